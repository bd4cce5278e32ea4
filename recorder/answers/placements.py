"""Pods that were on a node, and what they belong to."""

from collections.abc import Iterable, Sequence

from recorder.answers.ports import Reading
from recorder.answers.queries import ALWAYS, FactQuery, PodsOn, Purpose, Stay
from recorder.model.fact import StoredFact
from recorder.model.facts import Appeared, Vanished
from recorder.model.window import Window
from recorder.projections import Placement, Placements, Workload, Workloads

__all__ = ["ask_placements"]

OWNERS_DEPTH = 4
"""Steps from a Pod up to what a person asked for."""


async def ask_placements(
    reading: Reading, node: str, window: Window
) -> list[tuple[Placement, Workload | None]]:
    """Return the Pods that were on a node in a window, in order of binding."""
    await reading.reach(window.since, window.until)
    since, until = window.since or ALWAYS[0], window.until or ALWAYS[1]
    uids = await reading.names(PodsOn([Stay(node, since, until)]))
    pods = await reading.facts(FactQuery(purpose=Purpose.FAMILY, uids=uids))
    workloads = Workloads(await _owners_above(reading, pods))
    found = [
        placement
        for placement in Placements(pods)
        if placement.node == node
        and placement.bound_at is not None
        and placement.bound_at < until
    ]
    found.sort(key=lambda p: (p.bound_at or p.seen_at, p.pod.name))
    return [(placement, workloads.of(placement)) for placement in found]


async def _owners_above(
    reading: Reading, pods: Sequence[StoredFact]
) -> list[StoredFact]:
    """Read the lives of the owners above Pods, level by level."""
    lives: list[StoredFact] = []
    known: set[str] = set()
    above = _owners(pods)
    for _ in range(OWNERS_DEPTH):
        if not above:
            break
        known |= above
        found = await reading.facts(
            FactQuery(purpose=Purpose.LIVES, uids=above)
        )
        lives += found
        above = _owners(found) - known
    return lives


def _owners(facts: Iterable[StoredFact]) -> set[str]:
    found: set[str] = set()
    for stored in facts:
        detail = stored.fact.detail
        if isinstance(detail, Appeared | Vanished):
            found |= {
                owner.uid
                for owner in detail.state.owners
                if owner.uid
                and owner.kind not in {"DaemonSet", "Node", "CronJob"}
            }
    return found
