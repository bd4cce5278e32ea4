"""What the log must say after a fault.

Every gap that the fault opened is judged by itself: whether the server really
did not hold the history any more, and whether it begins at the last committed
proof.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import aiohttp
import orjson

from recorder.intake.endings import REFUSED
from recorder.intake.gaps import RELISTED
from recorder.intake.walking import WATCH_EXPIRED
from recorder.model.entry import Draft, Operation
from recorder.model.reference import Resource
from tests.cluster.client import ApiError
from tests.faults.schedule import Strike
from tests.support.log_rows import LogGap, log_gaps
from tests.support.read_log import WholeLog
from tests.survival.database import Point
from tests.survival.site import Site

__all__ = ["judge_gaps"]

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


async def judge_gaps(
    site: Site,
    log: WholeLog,
    seen: int,
    before: Mapping[str, Point],
    strikes: Sequence[Strike[Site]],
) -> list[str]:
    """Return the errors of the gaps that faults opened.

    Args:
        site: where they struck.
        log: the whole of it.
        seen: up to where the log was judged before.
        before: what was committed before the first of them.
        strikes: the faults.
    """
    wrong: list[str] = []
    reasons = {reason for strike in strikes for reason in strike.reasons}
    for gap in log_gaps(log.entries):
        if gap.closed <= seen:
            continue
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
    gap: LogGap,
    site: Site,
    log: WholeLog,
    point: Point | None,
    strikes: Sequence[Strike[Site]],
) -> Iterator[str]:
    if any(strike.dim for strike in strikes):
        return
    if gap.to is None or gap.since > gap.to:
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


def _later_proofs(gap: LogGap, site: Site, log: WholeLog) -> Iterator[str]:
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
    """Whether an entry was observed as soon as etcd had its version."""
    epoch, draft = log.entries[position - 1]
    version = int(orjson.loads(draft.raw)["metadata"]["resourceVersion"])
    made = site.cluster.oracle.seen_at.get((epoch, version))
    observed = draft.observed_at - site.clock.offset
    return made is not None and observed - made <= AT_ONCE


def _of(log: WholeLog, gap: LogGap) -> Iterator[tuple[int, Draft]]:
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


async def _is_held(site: Site, gap: LogGap) -> bool:
    """Whether the server still serves the history from before a gap.

    What it serves now it served then: it only forgets.
    """
    if gap.before is None:
        return False
    resource = Resource.parse(gap.resource)
    group = f"apis/{resource.group}" if resource.group else "api"
    path = f"/{group}/{resource.version}/{resource.plural}"
    query = {"watch": "1", "timeoutSeconds": "1"}
    try:
        async with site.cluster.api._session.get(
            path, params={**query, "resourceVersion": str(gap.before)}
        ) as response:
            if not response.ok:
                return False
            first: dict[str, Any] = orjson.loads(
                await response.content.readline() or b"{}"
            )
    except (ApiError, aiohttp.ClientError, TimeoutError, OSError):
        return False
    return bool(first.get("object", {}).get("code") != GONE)
