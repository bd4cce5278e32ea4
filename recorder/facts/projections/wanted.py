"""Wanted members: how many Pods of a workload ought to run, over time.

Each kind states it in fields of its own; a kind that is not listed states
nothing that is recorded.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from recorder.facts.projections.placement import Placement
from recorder.facts.projections.workloads import Workload, controller
from recorder.model.fact import StoredFact
from recorder.model.facts import Appeared, FieldChanged
from recorder.model.reference import ObjectIdentity
from recorder.model.state import Scalar

__all__ = ["Wanted"]

Fields = Mapping[str, Scalar]
Change = tuple[datetime, int]
"""When another number of members was wanted, and the number."""


def _of_job(fields: Fields) -> int:
    """Return the Pods that may run at once, of those still to succeed."""
    at_once = _number(fields, "parallelism", 1)
    if "completions" not in fields:
        return at_once
    left = _number(fields, "completions", 1) - _number(fields, "succeeded", 0)
    return min(at_once, max(left, 0))


def _of_replicas(fields: Fields) -> int:
    return _number(fields, "replicas", 1)


MEMBERS: Final[Mapping[str, Callable[[Fields], int]]] = {
    "Job": _of_job,
    "Deployment": _of_replicas,
    "ReplicaSet": _of_replicas,
    "ReplicationController": _of_replicas,
    "StatefulSet": _of_replicas,
}
"""How many members an object of each kind wants."""

SUMS: Final = frozenset({"JobSet"})
"""Kinds that want what the Jobs want that they control. One that is created
again counts once, by its name."""

BY_PODS: Final = frozenset({"LeaderWorkerSet", "PodGroup"})
"""Kinds whose Pods carry the size of their group."""


class Wanted:
    """The wanted members of workloads, folded from facts about them."""

    def __init__(self, facts: Iterable[StoredFact]) -> None:
        """Fold facts about workloads and what they control, in log order."""
        self._fields: dict[str, dict[str, Scalar]] = {}
        self._above: dict[str, str] = {}
        self._parts: dict[str, dict[str, int]] = {}
        self._changes: dict[str, list[Change]] = {}
        for stored in facts:
            self._take(stored)

    def of(
        self, workload: Workload, pods: Sequence[Placement]
    ) -> Sequence[Change]:
        """Return the wanted numbers of members, in order of time.

        Empty if nothing recorded states them.

        Args:
            workload: the workload, or one group of it.
            pods: its Pods.
        """
        if workload.kind in BY_PODS:
            return [
                (pod.seen_at, pod.group_size)
                for pod in pods
                if pod.seen_at is not None and pod.group_size is not None
            ]
        return self._changes.get(workload.uid or "", ())

    def _take(self, stored: StoredFact) -> None:
        thing, detail = stored.fact.object, stored.fact.detail
        if thing is None or thing.uid is None or thing.kind not in MEMBERS:
            return
        if thing.kind == "Job" and thing.group != "batch":
            return  # another kind of the same name
        if isinstance(detail, Appeared):
            self._fields[thing.uid] = dict(detail.state.fields)
            owner = controller(detail.state.owners)
            if owner is not None and owner.kind in SUMS:
                self._above[thing.uid] = owner.uid or ""
        elif isinstance(detail, FieldChanged):
            fields = self._fields.setdefault(thing.uid, {})
            if detail.new is None:
                fields.pop(detail.field, None)
            else:
                fields[detail.field] = detail.new
        else:
            return
        self._note(stored, thing, thing.uid)

    def _note(
        self, stored: StoredFact, thing: ObjectIdentity, uid: str
    ) -> None:
        number = MEMBERS[thing.kind](self._fields[uid])
        above = self._above.get(uid)
        if above is not None:
            parts = self._parts.setdefault(above, {})
            parts[thing.name] = number
            uid, number = above, sum(parts.values())
        changes = self._changes.setdefault(uid, [])
        if not changes or changes[-1][1] != number:
            changes.append((stored.observed_at, number))


def _number(fields: Fields, name: str, default: int) -> int:
    """Return a field that is a number; the default if it is not set."""
    value = fields.get(name, default)
    return value if isinstance(value, int) else default
