"""The walks of one cluster: whose turn it is, and what each may cost.

After a rejected watch, and before a first list, a reflector requests a walk.
Walks take turns, the most important resources first, and share their findings:
a version of one resource cannot belong to another. So a walk with many
unaccounted versions takes a second turn, after the first turns of all others.
What is found is put in the order of versions, before the watch or the list
that follows, so that the log has each object's versions in order; the price is
that the resource is live again only afterwards, which a deadline bounds.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from datetime import datetime

from recorder.intake.ports import Known
from recorder.model.observation import HistoryWalked, WatchFrame
from recorder.model.reference import Resource
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.dating import dated
from recorder.sources.watch.frames import read_object
from recorder.sources.watch.heartbeats import Heartbeats
from recorder.sources.watch.listing import Page
from recorder.sources.watch.owners import Others, Owners
from recorder.sources.watch.past import (
    Allowance,
    CompactedError,
    Minute,
    Reader,
    WalkEndedError,
)
from recorder.sources.watch.reach import BEGINNING, Reach
from recorder.sources.watch.span import (
    Found,
    Span,
    Walked,
    possible,
    proved,
)
from recorder.sources.watch.staging import Stage, Stages
from recorder.sources.watch.target import Target
from recorder.sources.watch.turns import LATER, Advance, Turns, rank
from recorder.sources.watch.versions import as_int64
from recorder.sources.watch.walk import Walk
from recorder.sources.watch.witnesses import Witnesses

EVENTS = "events"
UNWALKED = frozenset({EVENTS, "leases", "customresourcedefinitions"})
"""Plurals that need only a list: Events are kept for an hour, and of Leases
only the last renewal matters."""

FEW = 20
"""Up to so many unaccounted versions, each is examined without waiting for the
walks of others."""

MANY = 100
"""Up to so many, Events are not waited for."""

LOOKED = 50
"""Versions of a span for each moment at which everything is listed."""


@dataclass(frozen=True, slots=True)
class WalkReport:
    """What a walk found, to be put."""

    frames: list[WatchFrame]
    """In the order of versions."""

    walked: HistoryWalked | None
    """What it proves of a gap; None if there was nothing before it."""

    until: str
    """The version at which to list the resource next; empty if any list will
    do."""

    outcome: Walked

    more: bool = False
    """Whether it is a stage, after which the walk continues."""


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
        self._heartbeats = Heartbeats(client, self._owners)
        self._witnesses = Witnesses()
        # Set while the stream of Events is open.
        self._heard = asyncio.Event()
        self._turns = Turns(self._settings.walks)
        self._advance = Advance()
        self._stages = Stages(client, known)
        self.recovered = 0
        """Versions and deletions that walks found."""
        self.reached: datetime | None = None
        """The earliest time that they show; None before any walk."""
        self._remembering = asyncio.Lock()
        self._remembered: int | None = None
        """The epoch for which the versions in the log are known."""

    def follow(self, target: Target, since: str | None) -> None:
        """Note that a resource is followed; from a version, if it resumes."""
        self._heartbeats.follow(target, since)

    def saw(self, target: Target, version: str, raw: bytes) -> None:
        """Note that a version belongs to a resource, and so to no other.

        An Event also names another object.
        """
        number = as_int64(version)
        if number is not None:
            self._owners.note(target.resource, (number,), epoch=self._epoch())
        if target.resource.plural == EVENTS:
            self._witnesses.event(raw)

    def listed(self, target: Target, page: Page) -> None:
        """Note a page of a list that was put."""
        if target.resource.plural in UNWALKED:
            shown = [read_object("", raw) for raw in page.items]
            versions = [as_int64(one.version) for one in shown if one]
            self._owners.note(
                target.resource,
                [version for version in versions if version],
                epoch=self._epoch(),
            )
        if target.resource.plural == EVENTS:
            for raw in page.items:
                self._witnesses.event(raw)
            if not page.more:
                self.heard(target)

    def heard(self, target: Target) -> None:
        """Note that a resource was listed, or that its watch continues."""
        self._advance.left(target)
        if target.resource.plural == EVENTS:
            self._heard.set()

    def lost(self, target: Target) -> None:
        """Note that the watch of a resource ended, or cannot be opened."""
        if target.resource.plural == EVENTS:
            self._heard.clear()

    def seconds(self, target: Target, since: str) -> float:
        """Return how long a walk of a resource may take; 0 for none."""
        if target.resource.plural in UNWALKED:
            return 0
        if since == BEGINNING:
            return self._settings.walk_first_time
        return self._settings.walk_time

    def listed_at(self, target: Target, reach: Reach) -> str:
        """Return the version at which to list what was not read in time.

        If the server named a version from which it can watch, the watch
        delivers everything after it; empty for any.
        """
        self._advance.left(target)
        return self._stages.goal(target, reach) or ""

    def _turn(
        self, target: Target, deadline: float, *, later: int = 0
    ) -> AbstractAsyncContextManager[None]:
        left = deadline - self._client.clock.monotonic()
        return self._turns.turn(rank(target) + later, max(0.0, left))

    async def walk(
        self, target: Target, reach: Reach, deadline: float
    ) -> WalkReport | None:
        """Read what happened after a version, or a first stage of it.

        None if the resource has no past that could be read in time.

        Raises:
            RequestError: the resource cannot be listed, or the connection was
                lost; what was read until then is not read again.
        """
        since, report = as_int64(reach.since or BEGINNING), None
        if since is not None:
            self._advance.reached(target, since)
        try:
            report = await self._walk(target, reach, deadline)
            return report
        finally:
            if report is None or not report.more:
                self._advance.left(target)

    async def _walk(
        self, target: Target, reach: Reach, deadline: float
    ) -> WalkReport | None:
        settings = self._settings
        allowance = Allowance(
            settings.walk_requests,
            settings.walk_bytes,
            deadline,
            self._client.clock.monotonic,
            self.minute,
        )
        reader = Reader(self._client, target, allowance, reach.memo)
        epoch = self._epoch()
        try:
            async with self._turn(target, deadline):
                await self._remember(epoch)
                stage = await self._stages.next(
                    target, reach, reader, allowance
                )
                if stage is None:
                    return None
                walk = await self._changes(target, stage.span, reader, epoch)
                few = walk.unaccounted <= FEW and not stage.span.based
                if few:
                    await self._search(target, stage.span, walk, allowance)
        except (WalkEndedError, CompactedError):
            return None
        if not few:
            # By then, the findings of other walks are accounted for.
            await self._hear(stage.span, walk)
            left = deadline - self._client.clock.monotonic()
            await self._advance.others(target, stage.span.until, left / 2)
            with suppress(WalkEndedError):
                async with self._turn(target, deadline, later=LATER):
                    await self._search(target, stage.span, walk, allowance)
        self._note(target, walk.news(), epoch)
        walked = walk.result()
        if walked.lost is not None:
            raise walked.lost
        return self._report(target, reach, stage, walked, allowance.spent)

    async def _changes(
        self, target: Target, span: Span, reader: Reader, epoch: int
    ) -> Walk:
        """Read what changed or was deleted in a span."""
        others = Others(self._owners, target.resource)
        walk = Walk(reader, span, elsewhere=others)
        shown = (int(h.resource_version) for h in span.after.values())
        self._owners.note(target.resource, shown, epoch=epoch)
        most = self._settings.walk_looks
        if not span.based:
            most = min(most, (span.until - span.since) // LOOKED)
        await walk.changes(looks=_looks(span, reader.allowance, most))
        self._note(target, walk.news(), epoch)
        if not span.based:
            self._advance.reached(target, span.until)
        return walk

    def _report(
        self,
        target: Target,
        reach: Reach,
        stage: Stage,
        walked: Walked,
        requests: int,
    ) -> WalkReport:
        span, until = stage.span, str(stage.span.until)
        frames = self._frames(target, span, walked)
        if span.based:
            return WalkReport(frames, None, until, walked)
        said = proved(span, walked, requests)
        left = possible(walked)
        if reach.flaws is not None:
            walked = reach.flaws.joined(walked)
            left = possible(walked)
        history = HistoryWalked(
            observed_at=self._client.clock.now(),
            resource=target.resource,
            since=reach.first,
            until=until,
            proved=said,
            possible=left,
            resumes=walked.healed and (stage.more or stage.watched),
        )
        if stage.more and not walked.ended:
            return WalkReport(frames, history, until, walked, more=True)
        # A server that serves none of its past cannot list it either.
        is_held = walked.healed or frames or stage.watched
        return WalkReport(frames, history, until if is_held else "", walked)

    async def _remember(self, epoch: int) -> None:
        """Learn the owners of the versions in the log, once an epoch."""
        async with self._remembering:
            if self._remembered == epoch:
                return
            for name, versions in (await self._known.owned()).items():
                resource = Resource.parse(name)
                self._owners.note(resource, versions, epoch=epoch)
            self._remembered = epoch

    async def _search(
        self, target: Target, span: Span, walk: Walk, allowance: Allowance
    ) -> None:
        """Search for objects that came and went."""
        if span.based:
            await walk.hear(self._witnesses.of(target))
            return
        if walk.unaccounted > FEW:
            await self._heartbeats.account(
                target, span, allowance, epoch=self._epoch()
            )
        if walk.unaccounted > MANY:
            await walk.hear(self._witnesses.of(target))
        most = self._settings.walk_accounts
        await walk.account(looks=_looks(span, allowance, most))

    async def _hear(self, span: Span, walk: Walk) -> None:
        """Wait for a while for Events, if much is unexplained.

        Does not hold the turn meanwhile.
        """
        if span.based or walk.unaccounted > MANY:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._settings.walk_hears):
                    await self._heard.wait()

    def _note(
        self, target: Target, found: Sequence[Found], epoch: int
    ) -> None:
        """Share the findings of one walk with the others."""
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
        # The version at the start of the span may be much older.
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


def _looks(span: Span, allowance: Allowance, most: int) -> int:
    """Return how often to list all objects: half of the bytes are for it."""
    return min(most, allowance.lists(len(span.after)) // 2)
