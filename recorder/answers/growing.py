"""Judging a log again as it grows, and matching incidents with earlier ones.

Incidents are judged again whenever the log grows. A stronger effect renames an
incident, and incidents of several nodes may become one. This module decides
which incident found now continues one found before, in the same way for
subscribers and webhooks.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Generic, NoReturn, Protocol, TypeVar

import msgspec

from recorder.answers.incidents import Incident
from recorder.answers.jobs import Disruption
from recorder.answers.ports import Reading
from recorder.explain.verdict import Verdict
from recorder.model.errors import RecorderError
from recorder.model.moment import LAST
from recorder.model.outcomes import Happened

log = logging.getLogger("recorder.judging")

REST: Final = 2
"""Pause between judgements, as a multiple of the time that one took."""

Item = TypeVar("Item")


class Bell(Protocol):
    """Rings when a log may have grown."""

    async def wait(self) -> None:
        """Wait until the log may have grown, a second at most."""


async def attend(
    reading: Reading,
    bell: Bell,
    judge: Callable[[Reading], Awaitable[bool]],
    *,
    interval: float = float("inf"),
    ends: tuple[type[RecorderError], ...] = (),
) -> NoReturn:
    """Judge a log whenever it has new facts, until cancelled.

    Args:
        reading: the log.
        bell: rings when it may have grown.
        judge: judges the log; returns false to be called again soon.
        interval: seconds after which the log is judged even without new facts.
        ends: errors after which it cannot be judged again.
    """
    seen: int | None = None
    last_judged = 0.0
    while True:
        began = time.monotonic()
        try:
            reading = await reading.again()
            if reading.log.facts_to != seen or began - last_judged > interval:
                done = await judge(reading)
                seen = reading.log.facts_to if done else None
                last_judged = began
        except ends:
            raise
        except RecorderError as exc:
            # The database may become available again; nothing is skipped.
            log.warning("cannot judge log %s: %s", reading.log.id, exc)
        took = time.monotonic() - began
        await bell.wait()
        await asyncio.sleep(min(REST * took, interval))


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """What identifies an incident when a log is judged again."""

    id: str
    """Its id in the log now; a stronger effect may rename an incident."""

    ids: Sequence[str]
    """Ids of all its verdicts."""

    nodes: Sequence[str] = ()
    at: datetime
    """When it happened, or when a gap starts."""

    began_at: datetime
    over_at: datetime | None
    """When the node was back in service or removed, or the gap closed."""

    def is_of_time(self, at: datetime) -> bool:
        """Return whether a time is within it."""
        return self.began_at <= at <= (self.over_at or LAST)


def trace_of(judged: Sequence[Verdict]) -> Trace:
    """Return the trace of the incident with these verdicts."""
    first, ends = judged[0], [_over_at(verdict) for verdict in judged]
    return Trace(
        id=first.id,
        ids=[verdict.id for verdict in judged],
        nodes=sorted({verdict.node for verdict in judged}),
        at=first.at,
        began_at=min(verdict.began_at for verdict in judged),
        over_at=max(filter(None, ends)) if all(ends) else None,
    )


def _over_at(verdict: Verdict) -> datetime | None:
    """Return when a verdict was over; removal of its node ends it too."""
    is_gone = verdict.happened is Happened.REMOVED
    return verdict.not_after if is_gone else verdict.over_at


def continued(
    known: Mapping[str, Trace], found: Sequence[Trace]
) -> Sequence[str | None]:
    """Return the name of the known incident that each found one continues.

    Matched by name first, then by ids of verdicts, then by node and time.
    """
    chosen: dict[int, str] = {}
    left = {**known}
    for choose in (_named, _alike(_has_id), _alike(_shares), _alike(_is_near)):
        for place, one in enumerate(found):
            name = None if place in chosen else choose(left, one)
            if name is not None:
                chosen[place] = name
                del left[name]
    return [chosen.get(place) for place in range(len(found))]


Choose = Callable[[Mapping[str, Trace], Trace], str | None]
"""Returns the name of the remaining known incident that one continues."""


def _named(left: Mapping[str, Trace], found: Trace) -> str | None:
    names = {name for name in found.ids if name in left}
    if len(names) > 1:
        return next(name for name in left if name in names)
    return names.pop() if names else None


def _alike(is_alike: Callable[[Trace, Trace], bool]) -> Choose:
    return lambda left, found: next(
        (name for name, one in left.items() if is_alike(one, found)), None
    )


def successor(known: Trace, found: Iterable[Trace]) -> Trace | None:
    """Return the incident that a known one, not found now, is a part of."""
    for one in found:
        if _shares(known, one) or _is_near(known, one):
            return one
    return None


def _has_id(known: Trace, found: Trace) -> bool:
    return known.id == found.id


def _shares(known: Trace, found: Trace) -> bool:
    return not set(known.ids).isdisjoint(found.ids)


def _is_near(known: Trace, found: Trace) -> bool:
    return not set(known.nodes).isdisjoint(found.nodes) and found.is_of_time(
        known.at
    )


@dataclass(frozen=True, slots=True)
class News(Generic[Item]):
    """Changes since the last news of one subscriber."""

    changed: Sequence[Item]
    """New items, and items that differ from before."""

    gone: Sequence[str]
    """Ids of items that are not found any longer."""

    renamed: Mapping[str, str]
    """The new id of each of those that continues under another one."""


class Changes(Generic[Item]):
    """Finds what changed since the last news of one subscriber."""

    def __init__(
        self,
        essence: Callable[[Item], object],
        trace: Callable[[Item], Trace],
    ) -> None:
        """Take what shows that an item changed, and what identifies it."""
        self._essence = essence
        self._trace = trace
        self._known: dict[str, tuple[Item, object]] | None = None

    def since(
        self, now: Mapping[str, Item], begin: datetime | None
    ) -> News[Item] | None:
        """Return the changes; None if there are none, except the first time.

        Args:
            now: the items found, by id.
            begin: where the window begins; an item that began before it may
                be gone because the window has moved.
        """
        before, at_first = self._known or {}, self._known is None
        known = {name: (one, self._essence(one)) for name, one in now.items()}
        self._known = known
        changed = [
            one
            for name, (one, essence) in known.items()
            if name not in before or before[name][1] != essence
        ]
        gone = [name for name in before if name not in now]
        if not (changed or gone or at_first):
            return None
        earlier = {name: one for name, (one, _) in before.items()}
        renamed = self._renamed(earlier, now, begin) if gone else {}
        return News(changed, gone, renamed)

    def _renamed(
        self,
        before: Mapping[str, Item],
        now: Mapping[str, Item],
        begin: datetime | None,
    ) -> Mapping[str, str]:
        traces = {name: self._trace(one) for name, one in before.items()}
        known = {
            name: one
            for name, one in traces.items()
            if begin is None or one.began_at >= begin
        }
        found = [self._trace(one) for one in now.values()]
        names = continued(known, found)
        renamed = {
            name: one.id
            for name, one in zip(names, found, strict=True)
            if name is not None and name not in now
        }
        for name, one in known.items():
            if name not in now and name not in renamed:
                became = successor(one, found)
                if became is not None:
                    renamed[name] = became.id
        return renamed


def essence_of(incident: Incident) -> object:
    """Return what makes an incident a changed one when it differs.

    Without the hours lost, which grow by the second.
    """
    hits = [(hit.workload, hit.outcome) for hit in incident.hits]
    return incident.judged, hits


def disruption_trace(one: Disruption) -> Trace:
    """Return the trace of a disruption, whose workload is its place."""
    name, ending = str(one.ending.id), one.ending
    return Trace(
        id=name,
        ids=[name],
        nodes=[one.workload.uid or str(one.workload)],
        at=ending.at,
        began_at=ending.first_at or ending.at,
        over_at=ending.running_again_at,
    )


def disruption_essence(one: Disruption) -> object:
    """Return what makes a disruption a changed one when it differs.

    Without the hours lost, which grow by the second.
    """
    ending = one.ending
    return (
        ending.ended_by,
        ending.outcome,
        ending.running_again_at,
        ending.pods,
        ending.stopped,
        ending.confidence,
        ending.actor,
        ending.preemptor,
        ending.verdicts,
        ending.more_verdicts,
    )
