"""Wanted members: how many Pods of a workload ought to run, over time.

Each kind states it in fields of its own: those of Kubernetes in what is listed
here, others in the field ``members`` (`recorder.facts.members`). A PodGroup
that a workload owns states it of a workload that states nothing itself.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from recorder.facts.projections.placement import Placement
from recorder.facts.projections.workloads import Workload
from recorder.model.fact import StoredFact
from recorder.model.facts import Appeared, FieldChanged
from recorder.model.reference import ObjectIdentity
from recorder.model.state import Scalar, controller

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


MEMBERS: Final[Mapping[tuple[str, str], Callable[[Fields], int]]] = {
    ("batch", "Job"): _of_job,
    ("apps", "Deployment"): _of_replicas,
    ("apps", "ReplicaSet"): _of_replicas,
    ("", "ReplicationController"): _of_replicas,
    ("apps", "StatefulSet"): _of_replicas,
}
"""How many members an object wants, by group and kind."""

SUMS: Final = frozenset({"JobSet", "TrainJob"})
"""Kinds that want what the objects want that they control. One that is created
again counts once, by its name."""

BY_PODS: Final = frozenset({"LeaderWorkerSet", "PodGroup"})
"""Kinds whose Pods carry the size of their group."""


class Wanted:
    """The wanted members of workloads, folded from facts about them."""

    def __init__(self, facts: Iterable[StoredFact]) -> None:
        """Fold facts about workloads and what they control, in log order."""
        self._fields: dict[str, dict[str, Scalar]] = {}
        self._above: dict[str, tuple[str, str]] = {}
        self._grouped: dict[str, str] = {}
        self._parts: dict[str, dict[str, int]] = {}
        self._changes: dict[str, list[Change]] = {}
        for stored in facts:
            self._take(stored)

    def of(
        self, workload: Workload, pods: Sequence[Placement]
    ) -> Sequence[Change]:
        """Return the wanted numbers of members, in order of time.

        Empty if nothing recorded states them.
        """
        if workload.kind in BY_PODS:
            return [
                (pod.seen_at, pod.group_size)
                for pod in pods
                if pod.seen_at is not None and pod.group_size is not None
            ]
        uid = workload.uid or ""
        group = self._grouped.get(uid, "")
        return self._changes.get(uid, self._changes.get(group, ()))

    def _take(self, stored: StoredFact) -> None:
        thing, detail = stored.fact.object, stored.fact.detail
        if thing is None or thing.uid is None:
            return
        uid = thing.uid
        if isinstance(detail, Appeared):
            self._appeared(thing, uid, detail)
        elif isinstance(detail, FieldChanged):
            fields = self._fields.setdefault(uid, {})
            fields.pop(detail.field, None)
            if detail.new is not None:
                fields[detail.field] = detail.new
        else:
            return
        number = _members(thing, self._fields[uid])
        if number is None and uid in self._above and uid in self._changes:
            number = self._changes[uid][-1][1]  # it is seen after its parts
        if number is not None:
            self._note(stored.observed_at, uid, number)

    def _appeared(
        self, thing: ObjectIdentity, uid: str, detail: Appeared
    ) -> None:
        self._fields[uid] = dict(detail.state.fields)
        owner = controller(detail.state.owners)
        if owner is not None and owner.kind in SUMS:
            self._above[uid] = owner.uid or "", thing.name
        elif owner is not None and thing.kind == "PodGroup":
            self._grouped[owner.uid or ""] = uid

    def _note(self, at: datetime, uid: str, number: int) -> None:
        """Note how many an object wants, or what it is a part of."""
        while uid in self._above:
            uid, name = self._above[uid]
            parts = self._parts.setdefault(uid, {})
            parts[name] = number
            number = sum(parts.values())
        changes = self._changes.setdefault(uid, [])
        if not changes or changes[-1][1] != number:
            changes.append((at, number))


def _members(thing: ObjectIdentity, fields: Fields) -> int | None:
    """Return how many members an object wants; None if it states nothing."""
    row = MEMBERS.get((thing.group, thing.kind))
    if row is not None:
        return row(fields)
    found = fields.get("members")
    return found if isinstance(found, int) else None


def _number(fields: Fields, name: str, default: int) -> int:
    """Return a field that is a number; the default if it is not set."""
    value = fields.get(name, default)
    return value if isinstance(value, int) else default
