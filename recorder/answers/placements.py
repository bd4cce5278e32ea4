"""Pods that were on a node, and their workloads."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Self

from recorder.answers.ports import Reading
from recorder.answers.queries import ALWAYS, FactQuery, PodsOn, Purpose, Stay
from recorder.facts.projections import (
    Placement,
    Placements,
    Workload,
    Workloads,
)
from recorder.model.document import Document
from recorder.model.fact import StoredFact
from recorder.model.facts import Appeared, Vanished
from recorder.model.reference import EntryName
from recorder.model.window import Window

OWNERS_DEPTH = 4
"""Owners from a Pod up to what a user created."""


class PlacedPod(Document, frozen=True, kw_only=True):
    """One Pod on its node, from binding to end."""

    namespace: str
    pod: str
    uid: str | None
    node: str | None
    workload: Workload | None
    """Null for Pods that belong to a node: DaemonSet and mirror Pods."""

    gpus: int
    bound_at: datetime | None
    running_at: datetime | None
    deleting_at: datetime | None
    """When its deletion was requested."""

    ended_at: datetime | None
    """When it ended: failed, succeeded or gone."""

    restarted_at: datetime | None
    """When one of its containers restarted."""

    phase: str | None
    """The last that is known."""

    disruption: str | None
    """Why it was disrupted, as its condition DisruptionTarget says."""

    exit_codes: Sequence[int]
    entries: Sequence[EntryName]
    """About its end."""

    @classmethod
    def of(cls, placement: Placement, workload: Workload | None) -> Self:
        """Return a placement as answers show it."""
        return cls(
            namespace=placement.pod.namespace,
            pod=placement.pod.name,
            uid=placement.pod.uid,
            node=placement.node,
            workload=workload,
            gpus=placement.gpus,
            bound_at=placement.bound_at,
            running_at=placement.running_at,
            deleting_at=placement.deleting_at,
            ended_at=placement.ended_at,
            restarted_at=placement.restarted_at,
            phase=placement.phase,
            disruption=placement.disruption,
            exit_codes=placement.exit_codes,
            entries=[EntryName.parse(one) for one in placement.entries],
        )


async def ask_placements(
    reading: Reading, node: str, window: Window
) -> list[PlacedPod]:
    """Return the Pods on a node in a window, in order of binding."""
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
    return [PlacedPod.of(one, workloads.of(one)) for one in found]


async def _owners_above(
    reading: Reading, pods: Sequence[StoredFact]
) -> list[StoredFact]:
    """Read the facts about owners of Pods, level by level."""
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
