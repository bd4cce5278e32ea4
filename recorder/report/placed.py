"""Pods that were on a node, and what they belong to."""

from recorder.projections import Placement, Placements, Workload, Workloads
from recorder.report.hitting import POD_LIFE, is_pod, owners_above
from recorder.report.ports import Reading
from recorder.report.window import Window

__all__ = ["placed_on"]


async def placed_on(
    reading: Reading, node: str, window: Window
) -> list[tuple[Placement, Workload | None]]:
    """Give the Pods that were on a node in a window, in order of binding."""
    since = window.since
    facts = await reading.facts.of_nodes(
        [node],
        since=None if since is None else since - POD_LIFE,
        until=window.until,
    )
    near = [
        placement
        for placement in Placements(filter(is_pod, facts))
        if since is None
        or placement.ended_at is None
        or placement.ended_at >= since
    ]
    # How they appeared tells their owners; they may not have had a node then.
    pods = await reading.facts.owners_of(
        {placement.pod.uid for placement in near if placement.pod.uid}
    )
    above = await owners_above(reading, pods)
    workloads = Workloads(fact for _, level in above for fact in level)
    found = [
        placement
        for placement in Placements(pods)
        if placement.node == node and placement.bound_at is not None
    ]
    found.sort(key=lambda p: (p.bound_at or p.seen_at, p.pod.name))
    return [(placement, workloads.of(placement)) for placement in found]
