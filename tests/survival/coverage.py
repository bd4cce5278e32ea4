"""Whether the commands agree with the entries of the log."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

import orjson

from recorder.model.entry import Operation
from recorder.model.moment import written
from recorder.model.observation import WATCH
from tests.support.log_rows import LogGap, log_gaps
from tests.support.read_log import WholeLog
from tests.survival.recorder_process import command
from tests.survival.site import Site

__all__ = ["judge_coverage"]

COMPLETE, INCOMPLETE = 0, 4
SHORTEST = timedelta(seconds=0.2)
Span = tuple[datetime, datetime]


async def judge_coverage(site: Site, log: WholeLog) -> list[str]:
    """Return where an answer or its exit status differs from the log."""
    gaps = log_gaps(log.entries)
    costly = [(gap.since, gap.to) for gap in gaps if gap.possible and gap.to]
    moved = any(
        draft.operation is Operation.CLOCK_JUMPED for _, draft in log.entries
    )
    began, vouched = _vouched(log)
    spans = [(vouched, vouched + timedelta(hours=1), INCOMPLETE)]
    if costly and not moved:
        since, to = max(costly, key=lambda span: span[1] - span[0])
        if to - since > SHORTEST:
            spans.append((since, to, INCOMPLETE))
    if not moved:
        clean = _longest_clean(costly, began, vouched)
        if clean is not None:
            spans.append((*clean, COMPLETE))
    async with asyncio.TaskGroup() as group:
        listing = group.create_task(
            _gaps_listed(site, gaps, costly=bool(costly) or moved)
        )
        asking = [group.create_task(_status(site, *span)) for span in spans]
    return [*listing.result(), *(one for a in asking for one in a.result())]


async def _gaps_listed(
    site: Site, gaps: Sequence[LogGap], *, costly: bool
) -> list[str]:
    status, printed, said = await command(
        site.settings("data"), "gaps", "--since", "30d", "-o", "json"
    )
    if status not in {COMPLETE, INCOMPLETE}:
        return [f"recorder gaps ended with {status}: {said}"]
    answer = orjson.loads(printed)
    listed = {gap["id"].rpartition("/")[2] for gap in answer["gaps"]}
    wanted = {str(gap.opened) for gap in gaps}
    wrong = []
    if listed != wanted:
        odd = sorted(listed ^ wanted)
        wrong.append(f"recorder gaps does not show the gaps at {odd}")
    if answer["coverage"]["complete"] != (status == COMPLETE):
        wrong.append(f"recorder gaps ended with {status} against its answer")
    if costly and status != INCOMPLETE:
        wrong.append(f"recorder gaps ended with {status} over gaps")
    return wrong


async def _status(
    site: Site, since: datetime, until: datetime, wanted: int
) -> list[str]:
    span = ["--since", written(since), "--until", written(until)]
    status, _, said = await command(
        site.settings("data"), "log", *span, "-o", "ndjson"
    )
    if status == wanted:
        return []
    where = f"from {since} to {until}"
    return [f"recorder log ended with {status}, not {wanted}, {where}: {said}"]


def _vouched(log: WholeLog) -> tuple[datetime, datetime]:
    """Return from when and until when all that is watched is vouched for."""
    points = [
        point
        for (source, _), point in log.recovered.streams.items()
        if source == WATCH and point.state != "absent"
    ]
    return (
        max(point.began_at for point in points if point.began_at),
        min(point.vouched_until for point in points if point.vouched_until),
    )


def _longest_clean(
    gaps: Iterable[Span], began: datetime, vouched: datetime
) -> Span | None:
    """Return the longest span between the gaps, if it is worth asking."""
    edges = [(began, began), *sorted(gaps), (vouched, vouched)]
    spans = []
    latest = began
    for (_, end), (begin, _) in pairwise(edges):
        latest = max(latest, end)
        spans.append((latest, min(begin, vouched)))
    longest = max(spans, key=lambda span: span[1] - span[0])
    # Both ends are proven states and belong to the gaps as well.
    begin, end = longest[0] + SHORTEST / 2, longest[1] - SHORTEST / 2
    return (begin, end) if end > begin else None
