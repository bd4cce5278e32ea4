"""The walks of one cluster: whose turn it is, and what each may cost.

Where a watch was refused, and before a first list, a reflector asks for a
walk. Walks take turns, the most telling resources first, and share what they
know: a version of one resource cannot be of another. So one for which many are
left takes a second turn, behind the first ones of all others. What is found is
put in the order of versions, before the list that follows, so that the log has
each object's versions in their order; the price is that the resource is live
again only afterwards, which the time of a walk bounds.
"""

import asyncio
import heapq
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime

from recorder.intake.ports import HeldVersion, Known
from recorder.model.observation import HistoryWalked, WatchFrame
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.dating import dated
from recorder.sources.watch.listing import Page, list_versions
from recorder.sources.watch.owners import Others, Owners
from recorder.sources.watch.past import (
    Allowance,
    CompactedError,
    Minute,
    Reader,
    WalkEndedError,
    oldest,
)
from recorder.sources.watch.span import Found, Span, Walked
from recorder.sources.watch.target import Target
from recorder.sources.watch.versions import as_int64
from recorder.sources.watch.walk import Walk
from recorder.sources.watch.witnesses import Witnesses

__all__ = ["BEGINNING", "Told", "Walks"]

BEGINNING = ""
"""Since when to walk where nothing was recorded before."""

CAME_AND_WENT = "an object that was created and deleted in between"

EVENTS = "events"
UNWALKED = frozenset({EVENTS, "leases", "customresourcedefinitions"})
"""Plurals of which a list tells enough: Events are kept for an hour, and of
Leases only the last renewal says anything."""

FEW = 100
"""Versions that nothing accounts for, up to which each is looked at before
anybody else is asked or waited for."""

LATER = 100
"""Ranks behind all that are still to be walked."""

FIRST = ("nodes", "pods", "jobs")
"""The most telling plurals, in their order; remediation comes with them."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a walk gives to be put."""

    frames: list[WatchFrame]
    """In the order of versions."""

    walked: HistoryWalked | None
    """What it proves of a gap; None where there was nothing before it."""

    until: str
    """The version as of which the resource must be listed next; empty if
    any list will do."""


class Walks:
    """Walks back for the reflectors of one source."""

    def __init__(
        self, client: ClusterClient, known: Known, epoch: Callable[[], int]
    ) -> None:
        self._client = client
        self._settings = client.settings
        self._known = known
        self.minute = Minute(
            self._settings.walk_minute_requests,
            self._settings.walk_minute_bytes,
            client.clock.monotonic,
        )
        self._epoch = epoch
        self._owners = Owners(epoch)
        self._witnesses = Witnesses()
        # Whether Events were heard at all, and since a walk began.
        self._heard_first = asyncio.Event()
        self._heard = asyncio.Event()
        self._turns: list[tuple[int, int, asyncio.Event]] = []
        self.recovered = 0
        """Versions and deletions that walks found."""
        self.reached: datetime | None = None
        """The earliest time of which they tell; None before any walk."""
        self._asked = 0
        self._walking = 0

    def saw(self, target: Target, version: str, raw: bytes) -> None:
        """Note a version of any resource: it is of no other.

        An Event tells of another object as well.
        """
        number = as_int64(version)
        if number is not None:
            self._owners.note(target.resource, (number,), epoch=self._epoch())
        if target.resource.plural == EVENTS:
            self._witnesses.event(raw)

    def listed(self, target: Target, page: Page) -> None:
        """Take note of a page of a list that was put."""
        if target.resource.plural == EVENTS:
            for raw in page.items:
                self._witnesses.event(raw)
            if not page.more:
                self.heard(target)

    def heard(self, target: Target) -> None:
        """Note that the server told what there is to tell of a resource."""
        if target.resource.plural == EVENTS:
            self._heard_first.set()
            self._heard.set()
            self._heard = asyncio.Event()

    def may_walk(self, target: Target, since: str | None) -> bool:
        """Return whether a walk of a resource is wanted at all."""
        if since is None or target.resource.plural in UNWALKED:
            return False
        if since == BEGINNING:
            return self._settings.walk_first_time > 0
        return self._settings.walk_time > 0

    async def walk(self, target: Target, since: str) -> Told | None:
        """Read what happened since a version.

        None if the resource has no past that could be read.

        Raises:
            RequestError: the resource cannot be listed.
        """
        settings, clock = self._settings, self._client.clock
        time = settings.walk_time if since else settings.walk_first_time
        allowance = Allowance(
            settings.walk_requests,
            settings.walk_bytes,
            clock.monotonic() + time,
            clock.monotonic,
            self.minute,
        )
        async with self._turn(_rank(target)):
            epoch = self._epoch()
            until, after = await list_versions(self._client, target)
            try:
                span = await self._span(target, since, until, after, allowance)
            except (WalkEndedError, CompactedError):
                return None
            if span is None:
                return None
            walk = Walk(
                Reader(self._client, target, allowance),
                span,
                elsewhere=Others(self._owners, target.resource),
            )
            shown = (int(one.resource_version) for one in after.values())
            self._owners.note(target.resource, shown, epoch=epoch)
            looks = _looks(span, allowance, settings.walk_looks)
            await walk.changes(looks=looks)
            self._note(target, walk.news(), epoch)
            few = walk.unaccounted <= FEW
            if few:
                await self._search(target, span, walk, allowance)
        if not few:
            # What the walks of others find is accounted for then.
            async with self._turn(_rank(target) + LATER):
                await self._search(target, span, walk, allowance)
        self._note(target, walk.news(), epoch)
        walked = walk.result()
        frames = self._frames(target, span, walked)
        if since == BEGINNING:
            return Told(frames, None, until)
        history = HistoryWalked(
            observed_at=clock.now(),
            resource=target.resource,
            since=since,
            until=until,
            proved=_proved(span, walked, allowance.spent),
            possible=_possible(walked),
        )
        # Who tells nothing of the past cannot list it either.
        return Told(frames, history, until if walked.healed or frames else "")

    async def _span(
        self,
        target: Target,
        since: str,
        until: str,
        after: Mapping[str, HeldVersion],
        allowance: Allowance,
    ) -> Span | None:
        """Choose the span; None if versions are no numbers."""
        newest = as_int64(until)
        numbers = [as_int64(held.resource_version) for held in after.values()]
        if newest is None or None in numbers:
            return None
        if since == BEGINNING:
            reach = await oldest(self._client, target, allowance, newest)
            reader = Reader(self._client, target, allowance)
            before = await reader.snapshot(reach)
            return Span(
                since=reach,
                until=newest,
                before=before,
                after=after,
                based=True,
            )
        began = as_int64(since)
        if began is None or began > newest:
            return None
        held = await self._known.versions(target.resource)
        return Span(since=began, until=newest, before=held, after=after)

    async def _search(
        self, target: Target, span: Span, walk: Walk, allowance: Allowance
    ) -> None:
        """Look for what came and went."""
        if span.based or walk.unaccounted > FEW:
            heard = self._heard_first if span.based else self._heard
            with suppress(TimeoutError):
                async with asyncio.timeout(self._settings.walk_hears):
                    await heard.wait()
            await walk.hear(self._witnesses.of(target))
        if not span.based:
            most = self._settings.walk_accounts
            await walk.account(looks=_looks(span, allowance, most))

    def _note(
        self, target: Target, found: Sequence[Found], epoch: int
    ) -> None:
        """Let other walks know what one found."""
        versions = (one.version for one in found)
        self._owners.note(target.resource, versions, epoch=epoch)
        for one in found:
            self._witnesses.owned(one.raw)

    def _frames(
        self, target: Target, span: Span, walked: Walked
    ) -> list[WatchFrame]:
        now = self._client.clock.now()
        found_by = [*dated(walked.found)]
        self.recovered += len(found_by)
        # What was at the beginning of the span may be of long before.
        times = [by for f, by in found_by if by and f.version > span.since]
        self.reached = min((*times, self.reached or now))
        return [
            WatchFrame(
                observed_at=now,
                resource=target.resource,
                type="DELETED" if found.deleted else "MODIFIED",
                object=found.raw,
                recovered=True,
                written_by=by and min(by, now),
            )
            for found, by in found_by
        ]

    @asynccontextmanager
    async def _turn(self, rank: int) -> AsyncIterator[None]:
        """Wait for a turn; lower ranks come first."""
        if self._walking >= self._settings.walks:
            self._asked += 1
            mine = asyncio.Event()
            waiting = rank, self._asked, mine
            heapq.heappush(self._turns, waiting)
            try:
                await mine.wait()
            except asyncio.CancelledError:
                if mine.is_set():
                    self._pass_on()
                else:
                    self._turns.remove(waiting)
                    heapq.heapify(self._turns)
                raise
        else:
            self._walking += 1
        try:
            yield
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        if self._turns:
            heapq.heappop(self._turns)[2].set()
        else:
            self._walking -= 1


def _looks(span: Span, allowance: Allowance, most: int) -> int:
    """Return how often to list all objects: half of the bytes are for it."""
    return min(most, allowance.lists(len(span.after)) // 2)


def _rank(target: Target) -> int:
    plural = target.resource.plural
    if plural in FIRST:
        return FIRST.index(plural)
    return len(FIRST) + (not target.resource.group)


def _proved(span: Span, walked: Walked, requests: int) -> str:
    versions = sum(not found.deleted for found in walked.found)
    said = (
        f"versions {span.since} to {span.until} were read from the cluster's"
        f" past with {requests} requests: {versions} versions and"
        f" {len(walked.found) - versions} deletions were recovered"
    )
    if walked.healed:
        return f"{said}, and every version is accounted for"
    if walked.ended:
        return f"{said} before the walk ended, because {walked.ended}"
    return said


def _possible(walked: Walked) -> list[str] | None:
    if walked.ended and not walked.found:
        return None
    left = []
    if walked.unaccounted:
        left.append(
            f"{CAME_AND_WENT}, at one of {walked.unaccounted} versions that"
            " nothing accounts for"
        )
    if walked.incomplete:
        left.append(
            f"earlier versions of {len(walked.incomplete)} objects than were"
            " recovered"
        )
    if walked.undated:
        left.append(
            f"the last versions of {len(walked.undated)} objects, and when"
            " and by whom they were deleted"
        )
    return left
