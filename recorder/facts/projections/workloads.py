"""Workloads: the top of a Pod's owner chain, and how it ended.

The chain goes through controllers up to what a person created: a Job, not its
CronJob. If an owner was gone before the log began, labels name it.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from recorder.facts.classify.times import moment
from recorder.facts.over import (
    COMPLETES,
    FAILS,
    ended_before,
    ends_phase,
    says_over,
)
from recorder.facts.projections.placement import Placement
from recorder.facts.slurm import SLURM_JOB
from recorder.model.document import Document
from recorder.model.fact import StoredFact
from recorder.model.facts import (
    Appeared,
    ConditionChanged,
    FieldChanged,
    Vanished,
)
from recorder.model.reference import ObjectIdentity
from recorder.model.state import Owner, controller

GANGS: Final = frozenset(
    {
        "Job",
        "JobSet",
        "LeaderWorkerSet",
        "TrainJob",
        "PyTorchJob",
        "TFJob",
        "MPIJob",
        "JAXJob",
        "XGBoostJob",
        "PaddleJob",
        "AppWrapper",
        "RayJob",
        "RayCluster",
        "PodGroup",
        "VolcanoJob",
        "SlurmJob",
    }
)
"""Kinds that run in full or not at all."""

SERVERS: Final = frozenset(
    {"Deployment", "ReplicaSet", "Rollout", "StatefulSet"}
)
"""Kinds that are never done: their Pods end well only on request."""

REPLACED: Final = SERVERS - {"StatefulSet"}
"""Kinds that start a replacement before a Pod is gone."""

NO_WORKLOADS: Final = frozenset({"DaemonSet", "Node"})
"""Controllers whose Pods belong to a node and not to a user's work."""

TOPS: Final = frozenset({"CronJob", "Workload"})
"""Owners that are not the work itself."""

_PARTS: Final = frozenset({None, "Job", "StatefulSet", "Pod"})
_ALONE: Final = frozenset({None})
BY_LABEL: Final = (
    ("jobset.sigs.k8s.io/jobset-name", "JobSet", _PARTS),
    ("leaderworkerset.sigs.k8s.io/name", "LeaderWorkerSet", _PARTS),
    ("kueue.x-k8s.io/pod-group-name", "PodGroup", _ALONE),
    ("volcano.sh/job-name", "VolcanoJob", _ALONE),
    ("ray.io/originated-from-cr-name", "RayJob", _ALONE),
    ("ray.io/cluster", "RayCluster", _ALONE),
    # ai-dynamo/grove: operator/api/common/labels.go
    ("app.kubernetes.io/part-of", "PodCliqueSet", frozenset({"PodClique"})),
)
"""Labels that name the owner of a Pod, and below which kinds they do."""

EVICTED: Final = "Evicted"
"""The condition of Kueue's object by which its work has to go."""

GROUP_LABEL: Final = "leaderworkerset.sigs.k8s.io/group-index"


class Workload(Document, frozen=True, gc=False):
    """The workload at the top of the owner chain."""

    kind: str
    """As in Kubernetes; `SlurmJob` for Slurm."""

    namespace: str
    name: str
    uid: str | None
    group: str | UnsetType = UNSET
    """Of a LeaderWorkerSet: which of its groups."""

    def __str__(self) -> str:
        """Return the name that people use."""
        group = f" group {self.group}" if self.group else ""
        return f"{self.kind} {self.namespace}/{self.name}{group}"

    @property
    def is_gang(self) -> bool:
        """Whether it runs in full or not at all."""
        return self.kind in GANGS

    @property
    def part(self) -> str:
        """What its Pods are called in a text: those of Slurm are members."""
        return "member" if self.kind == SLURM_JOB else "Pod"


class _Owner(msgspec.Struct, gc=False):
    kind: str
    namespace: str
    name: str
    uid: str
    owners: list[Owner]
    failed_at: datetime | None = None
    reported_failure: datetime | None = None
    """By the clock of its controller; it may be seen late."""

    decided_at: datetime | None = None
    """When it was decided how it ends, by the clock of its controller."""

    completed_at: datetime | None = None
    """When it was observed that it is done, with all that it needed."""

    gone_at: datetime | None = None
    unseen: bool = False
    entries: list[str] = []


class Workloads:
    """Owners, folded from facts about them.

    A Pod may be one: the leader of a group owns its workers.
    """

    def __init__(self, facts: Iterable[StoredFact] = ()) -> None:
        self._owners: dict[str, _Owner] = {}
        self._evicted: dict[str, list[StoredFact]] = {}
        for stored in facts:
            self.take(stored)

    def take(self, stored: StoredFact) -> None:
        """Take the next fact, in the order of the log."""
        fact = stored.fact
        thing = fact.object
        if thing is None or thing.uid is None:
            return
        detail = fact.detail
        if isinstance(detail, Appeared | Vanished):
            owner = self._owners.get(thing.uid)
            if owner is None:
                owner = self._owners[thing.uid] = _seen(stored, thing, detail)
            if isinstance(detail, Vanished):
                owner.gone_at = stored.observed_at
                owner.unseen = detail.inferred
        elif isinstance(detail, ConditionChanged):
            self._condition(stored, thing.uid, detail)
        elif thing.uid in self._owners:
            _ends_by_phase(self._owners[thing.uid], stored)

    def _condition(
        self, stored: StoredFact, uid: str, detail: ConditionChanged
    ) -> None:
        owner = self._owners.get(uid)
        if owner is None:
            return
        new = detail.new
        if new is None or new.status != "True":
            if detail.type in FAILS | COMPLETES:
                _goes_on(owner)
            return
        _ends(owner, detail.type, stored, stored.fact.occurred_at)
        if owner.kind == "Workload" and detail.type == EVICTED:
            # Kueue's own object, which belongs to the work that it admits.
            for above in owner.owners:
                self._evicted.setdefault(above.uid or "", []).append(stored)

    def of(self, placement: Placement) -> Workload | None:
        """Return the workload of a Pod; None if it belongs to a node."""
        owner = controller(placement.owners)
        namespace = placement.pod.namespace
        top: Workload | None = None
        seen: set[str] = set()
        while owner is not None:
            kind, uid = owner.kind or "", owner.uid or ""
            if kind in NO_WORKLOADS:
                return None
            if kind in TOPS:
                break
            top = Workload(kind, namespace, owner.name or "", uid)
            known = self._owners.get(uid)
            if known is None or uid in seen:
                break
            seen.add(uid)
            owner = controller(known.owners)
        return _labelled(placement, top)

    def may_be_part(self, workload: Workload) -> bool:
        """Return whether a workload may belong to one that is not recorded.

        It may if it is not recorded itself and its kind is not known: its own
        owner would be on it.
        """
        known = GANGS | SERVERS | {"Pod", "ReplicationController"}
        return workload.kind not in known and workload.uid not in self._owners

    def failed_at(self, workload: Workload) -> datetime | None:
        """Return when a workload failed for good."""
        owner = self._owners.get(workload.uid or "")
        return owner.failed_at if owner is not None else None

    def decided_at(self, workload: Workload) -> datetime | None:
        """Return when it was decided that a workload failed or is done."""
        owner = self._owners.get(workload.uid or "")
        return owner.decided_at if owner is not None else None

    def completed_at(self, workload: Workload) -> datetime | None:
        """Return when a workload was seen to be done, with all it needed."""
        owner = self._owners.get(workload.uid or "")
        return owner.completed_at if owner is not None else None

    def reported_failure(self, workload: Workload) -> datetime | None:
        """Return when a workload failed according to its controller."""
        owner = self._owners.get(workload.uid or "")
        return owner.reported_failure if owner is not None else None

    def wanted_until(
        self, workload: Workload, since: datetime
    ) -> datetime | None:
        """Return when a workload was removed; None if it was not.

        If that was not seen, it may have been at once.
        """
        owner = self._owners.get(workload.uid or "")
        if owner is None or owner.gone_at is None:
            return None
        return since if owner.unseen else max(since, owner.gone_at)

    def preempted_at(self, workload: Workload) -> Sequence[datetime]:
        """Return when a queue gave the place of a workload to another."""
        return [
            stored.observed_at
            for stored in self.evicted(workload)
            if isinstance(detail := stored.fact.detail, ConditionChanged)
            and detail.new is not None
            and detail.new.reason == "Preempted"
        ]

    def evicted(self, workload: Workload) -> Sequence[StoredFact]:
        """Return what shows that a queue took the place of a workload."""
        return self._evicted.get(workload.uid or "", ())

    def is_queued(self, workload: Workload) -> bool:
        """Return whether Kueue has an object for a workload."""
        return any(
            owner.kind == "Workload"
            and owner.gone_at is None
            and any(above.uid == workload.uid for above in owner.owners)
            for owner in self._owners.values()
        )

    def entries(self, workload: Workload) -> list[str]:
        """Return the entries that show its failure."""
        owner = self._owners.get(workload.uid or "")
        return owner.entries if owner is not None else []


def _seen(
    stored: StoredFact, thing: ObjectIdentity, detail: Appeared | Vanished
) -> _Owner:
    """Return an owner as it was seen first."""
    owner = _Owner(
        thing.kind,
        thing.namespace,
        thing.name,
        thing.uid or "",
        detail.state.owners,
    )
    for name, condition in detail.state.conditions.items():
        if condition.status == "True":
            _ends(owner, name, stored, moment(condition.since))
    if owner.decided_at is None:
        _ends_by_phase(owner, stored)
    return owner


def _ends(
    owner: _Owner,
    condition: str,
    stored: StoredFact,
    stated_at: datetime | None,
) -> None:
    """Note how a workload ends, if a condition that is true decides it."""
    if condition not in FAILS | COMPLETES:
        return
    owner.decided_at = owner.decided_at or stated_at or stored.observed_at
    if condition in COMPLETES and owner.completed_at is None:
        owner.completed_at = stored.observed_at
    if condition == "Failed":
        if owner.failed_at is None:
            owner.failed_at = stored.observed_at
            owner.reported_failure = stated_at
        owner.entries = [*owner.entries, str(stored.entry)]


def _ends_by_phase(owner: _Owner, stored: StoredFact) -> None:
    """Note that a phase ends a workload, or that it left such a phase."""
    detail = stored.fact.detail
    ended = says_over(owner.kind, detail)
    if isinstance(detail, FieldChanged) and detail.field == "phase":
        before = ends_phase(detail.old)
        if before is not None and before is not ended:
            _goes_on(owner)
    if ended is not None:
        name = "Succeeded" if ended else "Failed"
        _ends(owner, name, stored, ended_before(detail))


def _goes_on(owner: _Owner) -> None:
    """Note that a workload has not ended after all: it was started again."""
    owner.decided_at = owner.failed_at = owner.reported_failure = None
    owner.completed_at = None


def _labelled(placement: Placement, top: Workload | None) -> Workload:
    """Name what labels name and the chain does not."""
    pod, labels = placement.pod, placement.labels
    if top is not None and top.kind == "LeaderWorkerSet":
        return msgspec.structs.replace(
            top, group=labels.get(GROUP_LABEL, UNSET)
        )
    known = None if top is None else top.kind
    for label, kind, parts in BY_LABEL:
        if known in parts and (name := labels.get(label)):
            group = labels.get(GROUP_LABEL, UNSET)
            uid = labels.get("jobset.sigs.k8s.io/jobset-uid")
            return Workload(kind, pod.namespace, name, uid, group)
    if top is None:
        return Workload("Pod", pod.namespace, pod.name, pod.uid)
    return top
