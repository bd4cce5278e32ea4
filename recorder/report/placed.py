"""Pods that were on a node, and what they belong to."""

from recorder.projections import Placement, Placements, Workload, Workloads
from recorder.report.fact_ports import ALWAYS, Stay
from recorder.report.hitting import owners_above
from recorder.report.ports import Reading
from recorder.report.window import Window

__all__ = ["placed_on"]


async def placed_on(
    reading: Reading, node: str, window: Window
) -> list[tuple[Placement, Workload | None]]:
    """Give the Pods that were on a node in a window, in order of binding."""
    since, until = window.since or ALWAYS[0], window.until or ALWAYS[1]
    uids = await reading.gangs.pods_on([Stay(node, since, until)])
    pods = await reading.gangs.family(uids, until=None)
    above = await owners_above(reading, pods)
    workloads = Workloads(fact for _, level in above for fact in level)
    found = [
        placement
        for placement in Placements(pods)
        if placement.node == node
        and placement.bound_at is not None
        and placement.bound_at < until
    ]
    found.sort(key=lambda p: (p.bound_at or p.seen_at, p.pod.name))
    return [(placement, workloads.of(placement)) for placement in found]
