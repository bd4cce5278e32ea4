"""What the log must say after a fault, and after all of them.

After each fault every gap that it opened is judged by itself: whether the
server really did not hold the history any more, and whether it begins at the
last committed proof. At the end the whole log is compared with etcd's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import aiohttp
import orjson

from recorder.intake.endings import REFUSED, WATCH_EXPIRED
from recorder.intake.gaps import RELISTED
from recorder.model.entry import Draft, Operation
from recorder.model.reference import Resource
from tests.cluster.client import ApiError
from tests.support.log_rows import gap_spans, log_rows, over_rewinds
from tests.support.read_log import WholeLog
from tests.survival.fault import Strike
from tests.survival.progress import Point
from tests.survival.site import Site

__all__ = ["ClosedGap", "closed_gaps", "differences", "judge_gaps"]

IN_FLIGHT = timedelta(seconds=0.5)
"""What the server sent before it died may still arrive."""

AT_ONCE = timedelta(seconds=0.1)
"""What comes sooner after it was made did not wait for us to come back, unless
it comes with what did: it may have been made just before we were back. Only
such an entry says that nothing was made before it and is still to come, and
only if another came before it: the first may have been made in the moment in
which we came back, and is late then. It is less than the 0.25 s in which a
line may bring a frame in pieces, because the oracle may hear of a version late
on a busy machine."""

CONFIRMED = {WATCH_EXPIRED, RELISTED}
"""Reasons that the server must confirm."""

LIVE = {Operation.ADDED, Operation.MODIFIED, Operation.DELETED}
GONE = 410


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedGap:
    """A gap as its two entries tell it."""

    resource: str
    reason: str
    since: datetime
    to: datetime
    before: str | None
    possible: tuple[str, ...]
    opened: int
    """Position of the entry that opened it."""

    closed: int

    def __str__(self) -> str:
        return (
            f"gap {self.opened}..{self.closed} of {self.resource}"
            f" ({self.reason}) from {self.since} to {self.to}"
        )


def closed_gaps(log: WholeLog, *, after: int = 0) -> list[ClosedGap]:
    """Return the gaps that were closed after a position."""
    gaps = []
    for position, (_, draft) in enumerate(log.entries, 1):
        if draft.operation is not Operation.GAP_CLOSED or position <= after:
            continue
        said = orjson.loads(draft.raw)
        gaps.append(
            ClosedGap(
                resource=draft.resource or "",
                reason=said["reason"],
                since=datetime.fromisoformat(said["from"]),
                to=datetime.fromisoformat(said["to"]),
                before=said["resource_version_before"],
                possible=tuple(said["possible"]),
                opened=int(said["opened"].rpartition("/")[2]),
                closed=position,
            )
        )
    return gaps


async def judge_gaps(
    site: Site,
    log: WholeLog,
    gaps: Sequence[ClosedGap],
    before: Mapping[str, Point],
    strikes: Sequence[Strike],
) -> list[str]:
    """Return what is wrong with the gaps that faults opened.

    Args:
        site: where they struck.
        log: the whole of it.
        gaps: closed since.
        before: what was committed before the first of them.
        strikes: the faults.
    """
    wrong: list[str] = []
    reasons = {reason for strike in strikes for reason in strike.reasons}
    for gap in gaps:
        wrong += _badly_placed(
            gap, site, log, before.get(gap.resource), strikes
        )
        # A version of a history that was rewound says nothing of this one.
        asked = gap.possible and not any(strike.epochs for strike in strikes)
        if gap.reason in CONFIRMED:
            if asked and await _is_held(site, gap):
                wrong.append(f"the server still held the history: {gap}")
        elif gap.reason not in reasons:
            wrong.append(f"nothing happened that explains it: {gap}")
        elif (
            gap.reason in REFUSED.values()
            and asked
            and await _is_held(site, gap)
        ):
            wrong.append(f"it should have been healed: {gap}")
    return wrong


def _badly_placed(
    gap: ClosedGap,
    site: Site,
    log: WholeLog,
    point: Point | None,
    strikes: Sequence[Strike],
) -> Iterator[str]:
    if any(strike.dim for strike in strikes):
        return
    if gap.since > gap.to:
        yield f"it ends before it begins: {gap}"
    proven = point.settled_until if point is not None else None
    if proven is not None and gap.since < proven:
        yield f"it begins before the proof of {proven}: {gap}"
    blind = max((s.blind_at for s in strikes if s.blind_at), default=None)
    if blind is not None and gap.since > blind + IN_FLIGHT:
        yield f"it begins after nothing was proven from {blind} on: {gap}"
    yield from _later_proofs(gap, site, log)
    for position, draft in _of(log, gap):
        live = draft.operation in LIVE
        if live and gap.opened < position < gap.closed and gap.possible:
            yield f"entry {position} came from a watch within it: {gap}"


def _later_proofs(gap: ClosedGap, site: Site, log: WholeLog) -> Iterator[str]:
    """Yield entries behind the start of a gap before which nothing lacks."""
    entries = [
        (position, draft)
        for position, draft in _of(log, gap)
        if draft.operation in LIVE
    ]
    late = {
        draft.observed_at
        for position, draft in entries
        if not _came_at_once(site, log, position)
    }
    behind = [
        (position, draft.observed_at)
        for position, draft in entries
        if position < gap.opened and draft.observed_at > gap.since
    ]
    for position, observed_at in behind:
        was_open = observed_at - behind[0][1] > AT_ONCE
        if was_open and observed_at not in late:
            yield f"entry {position} is a later proof: {gap}"


def _came_at_once(site: Site, log: WholeLog, position: int) -> bool:
    """Whether an entry was observed as soon as etcd told its version."""
    epoch, draft = log.entries[position - 1]
    version = int(orjson.loads(draft.raw)["metadata"]["resourceVersion"])
    made = site.cluster.oracle.seen_at.get((epoch, version))
    observed = draft.observed_at - site.clock.offset
    return made is not None and observed - made <= AT_ONCE


def _of(log: WholeLog, gap: ClosedGap) -> Iterator[tuple[int, Draft]]:
    """Yield the entries of its resource, since the clock jumped last."""
    jumped = max(
        (
            position
            for position, (_, draft) in enumerate(log.entries, 1)
            if draft.operation is Operation.CLOCK_JUMPED
        ),
        default=0,
    )
    for position, (_, draft) in enumerate(log.entries, 1):
        if position > jumped and draft.resource == gap.resource:
            yield position, draft


async def _is_held(site: Site, gap: ClosedGap) -> bool:
    """Whether the server still gives the history from before a gap.

    What it gives now it gave then: it only forgets.
    """
    if gap.before is None:
        return False
    resource = Resource.parse(gap.resource)
    group = f"apis/{resource.group}" if resource.group else "api"
    path = f"/{group}/{resource.version}/{resource.plural}"
    query = {"watch": "1", "timeoutSeconds": "1"}
    try:
        async with site.cluster.api._session.get(
            path, params={**query, "resourceVersion": gap.before}
        ) as response:
            if not response.ok:
                return False
            first: dict[str, Any] = orjson.loads(
                await response.content.readline() or b"{}"
            )
    except (ApiError, aiohttp.ClientError, TimeoutError, OSError):
        return False
    return bool(first.get("object", {}).get("code") != GONE)


async def differences(site: Site, log: WholeLog, *, through: int) -> list[str]:
    """Return where the log is not what etcd's own history is.

    Of what came after a revision nothing is expected: Events go on expiring
    when everybody else has stopped.
    """
    await site.cluster.oracle.caught_up()
    truth = site.cluster.oracle.versions()
    # Leases are recorded in part, and of nodes alone.
    rows = [row for row in log_rows(log.entries) if row.resource != "leases"]
    rows, wrong = over_rewinds(rows, truth)
    spans = [
        span
        for span in gap_spans(log.entries, log.recovered.streams)
        if span.resource != "leases"
    ]
    return wrong + site.cluster.oracle.compare(rows, spans, through=through)
