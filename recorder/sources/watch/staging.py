"""Which part of a resource's past to read next.

If the server names a version from which it can watch, the walk ends there, and
a watch delivers the rest. Otherwise it ends now. A long span is read in
stages, the oldest first, each put before the next.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from recorder.intake.ports import HeldVersion, Known
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import (
    BadAnswerError,
    ExpiredError,
    MissingError,
)
from recorder.sources.watch.listing import list_versions
from recorder.sources.watch.past import (
    Allowance,
    CompactedError,
    Reader,
    oldest,
)
from recorder.sources.watch.reach import BEGINNING, Reach
from recorder.sources.watch.span import Span
from recorder.sources.watch.target import Target
from recorder.sources.watch.versions import as_int64


@dataclass(frozen=True, slots=True)
class Stage:
    """A span to be read next."""

    span: Span
    watched: bool = False
    """Whether the server can watch from the version where the walk ends."""

    more: bool = False
    """Whether the walk continues after it."""


class Stages:
    """Chooses stages."""

    def __init__(self, client: ClusterClient, known: Known) -> None:
        self._client = client
        self._settings = client.settings
        self._known = known

    async def next(
        self,
        target: Target,
        reach: Reach,
        reader: Reader,
        allowance: Allowance,
    ) -> Stage | None:
        """Choose what to read next; None if versions are not numbers.

        Raises:
            RequestError: the resource cannot be listed.
            WalkEndedError: the server serves no past, or not in time.
            CompactedError: the past was compacted meanwhile.
        """
        if reach.since == BEGINNING:
            return await self._beginning(target, reader, allowance)
        span, watched = await self._span(target, reach)
        if span is None:
            return None
        entered = as_int64(self._known.entered(target.resource) or "0") or 0
        lowest = max(span.since, entered)
        length = span.until - lowest
        if length <= self._settings.walk_stage or _is_same(span):
            return Stage(span, watched=watched)
        step = max(
            self._settings.walk_stage // 2,
            length // self._settings.walk_stages,
        )
        try:
            after = await reader.snapshot(lowest + step)
        except CompactedError:
            return Stage(span, watched=watched)
        span = replace(span, until=lowest + step, after=after)
        return Stage(span, watched=watched, more=True)

    async def _span(
        self, target: Target, reach: Reach
    ) -> tuple[Span | None, bool]:
        """Return all that is to be read, and whether a watch follows."""
        began = as_int64(reach.since or "")
        until, after, watched = await self._after(target, reach)
        newest = as_int64(until)
        held = await self._known.versions(target.resource)
        if began is None or newest is None or newest < began:
            return None, False
        if not (_are_numbers(after) and _are_numbers(held)):
            return None, False
        if reach.flaws is not None:
            # Deleted before this span, at a version that was not found.
            went = reach.flaws.undated
            held = {uid: one for uid, one in held.items() if uid not in went}
        span = Span(since=began, until=newest, before=held, after=after)
        return span, watched

    def goal(self, target: Target, reach: Reach) -> str | None:
        """Return the version where a walk is to end, if it is known.

        Never before what a watch has delivered: an object deleted since would
        appear again.
        """
        goal = as_int64(reach.goal or "")
        began = as_int64(reach.since or "")
        entered = as_int64(self._known.entered(target.resource) or "0")
        if goal is None or began is None or entered is None:
            return None
        return reach.goal if goal >= max(began, entered) else None

    async def _after(
        self, target: Target, reach: Reach
    ) -> tuple[str, Mapping[str, HeldVersion], bool]:
        """List where the walk is to end: where a watch can start, or now."""
        if goal := self.goal(target, reach):
            with suppress(ExpiredError, BadAnswerError, MissingError):
                at, after = await list_versions(
                    self._client, target, version=goal
                )
                if at == goal:
                    return at, after, True
        return *await list_versions(self._client, target), False

    async def _beginning(
        self, target: Target, reader: Reader, allowance: Allowance
    ) -> Stage | None:
        """Choose what to read before a first list."""
        until, after = await list_versions(self._client, target)
        newest = as_int64(until)
        if newest is None or not _are_numbers(after):
            return None
        since = await oldest(self._client, target, allowance, newest)
        before = await reader.snapshot(since)
        span = Span(
            since=since, until=newest, before=before, after=after, based=True
        )
        return Stage(span)


def _are_numbers(held: Mapping[str, HeldVersion]) -> bool:
    return None not in {as_int64(h.resource_version) for h in held.values()}


def _is_same(span: Span) -> bool:
    before = {u: held.resource_version for u, held in span.before.items()}
    return before == {u: h.resource_version for u, h in span.after.items()}
