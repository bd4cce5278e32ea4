"""Workloads with their Pods, states and endings, many at a time.

A workload is judged from its facts, however it was found, so that a list says
the same of it as `recorder why`.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from recorder.answers.loading.authors import with_author
from recorder.answers.loading.hits import hits_on
from recorder.answers.nouns import WorkloadLife
from recorder.answers.ports import Reading
from recorder.answers.queries import FactQuery, Kinds, Purpose
from recorder.answers.slurm_names import SlurmNames, slurm_names
from recorder.explain.ending import Ending
from recorder.explain.ending_sentences import ending_sentence
from recorder.explain.endings import Life, endings_of, facts_by_object
from recorder.explain.hit import Hit
from recorder.explain.knowledge import Knowledge
from recorder.explain.signals.around import is_listed
from recorder.explain.verdict import Verdict
from recorder.explain.workload_state import state_after, state_of
from recorder.facts.classify.times import moment
from recorder.facts.projections import (
    Placement,
    Placements,
    Time,
    Wanted,
    Workload,
    Workloads,
    full_spans,
    most_at_once,
    total,
)
from recorder.model.fact import StoredFact
from recorder.model.facts import Appeared, Vanished
from recorder.model.kinds import plural_of
from recorder.model.outcomes import EndedBy, Outcome, WorkloadState
from recorder.model.reference import EntryName
from recorder.model.window import Window

POD: Final = ("", "Pod")
QUEUED: Final = ("kueue.x-k8s.io", "Workload")

QUEUES: Final = (
    "kueue.x-k8s.io/queue-name",
    "volcano.sh/queue-name",
    "scheduling.volcano.sh/queue-name",
)
"""Labels and annotations that name the queue of a workload or a Pod."""

BARE_MAX: Final = 2_000
"""Pods without owners whose labels are read in any case."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A workload of a list, before it is judged."""

    kind: str
    group: str
    namespace: str
    name: str
    began_at: datetime
    position: int
    uids: Sequence[str]
    """Of the tops of its owner chains; of several Pods that a label joins."""

    has_pods: bool = True
    """Whether a Pod of it was bound, or has an owner."""

    @property
    def place(self) -> tuple[datetime, int]:
        """The sort key in a list."""
        return self.began_at, self.position

    @property
    def full_name(self) -> str:
        """Its namespace and name."""
        return f"{self.namespace}/{self.name}"

    def is_called(self, word: str) -> bool:
        """Return whether a word names its kind."""
        names = {self.kind.lower(), plural_of(self.kind)}
        names |= {f"{name}.{self.group}" for name in names}
        return word.lower() in names


async def candidates_of(
    reading: Reading, lives: Sequence[WorkloadLife]
) -> list[Candidate]:
    """Return the workloads of lives, the first begun first.

    Pods without owners are one workload if a label says so.
    """
    bare = {
        life.top.uid or ""
        for life in lives
        if (life.top.group, life.top.kind) == POD and life.top.uid
    }
    facts: Sequence[StoredFact] = ()
    if bare and await _may_be_joined(reading, len(bare)):
        query = FactQuery(purpose=Purpose.LIVES, uids=bare)
        facts = await reading.facts(query)
    workloads = Workloads(facts)
    labelled = {
        pod.pod.uid: named
        for pod in Placements(facts)
        if (named := workloads.of(pod)) is not None and named.kind != "Pod"
    }
    joined: dict[Workload, list[WorkloadLife]] = {}
    found: list[Candidate] = []
    for life in lives:
        label = labelled.get(life.top.uid)
        if label is not None:
            joined.setdefault(label, []).append(life)
        elif life.top.uid is not None:
            found.append(_candidate(life, [life.top.uid]))
    for label, parts in joined.items():
        one = _candidate(parts[0], [part.top.uid or "" for part in parts])
        found.append(
            dataclasses.replace(one, kind=label.kind, name=label.name)
        )
    return sorted(found, key=lambda one: one.place)


async def _may_be_joined(reading: Reading, count: int) -> bool:
    """Return whether labels may join so many Pods without owners.

    Kueue joins Pods, and has an object for them. To read the labels of many
    Pods takes seconds.
    """
    return count <= BARE_MAX or QUEUED in await reading.names(Kinds())


def _candidate(life: WorkloadLife, uids: Sequence[str]) -> Candidate:
    top = life.top
    return Candidate(
        top.kind,
        top.group,
        top.namespace,
        top.name,
        life.began_at,
        life.position,
        uids,
        has_pods=life.has_pods,
    )


@dataclass(slots=True)
class Family:
    """One workload with its Pods, and all that ended them."""

    candidate: Candidate
    workload: Workload
    read: Sequence[StoredFact]
    """All facts that were read with its own, of several workloads."""

    groups: dict[Workload, list[Placement]] = field(default_factory=dict)
    facts: list[StoredFact] = field(default_factory=list)
    workloads: Workloads = field(default_factory=Workloads)
    """Folded from all facts that were read."""

    gone_at: datetime | None = None
    state: WorkloadState = WorkloadState.UNKNOWN
    waiting_since: datetime | None = None
    """Since when it is queued or suspended, or waits for its first Pod."""

    members: Sequence[tuple[datetime, int]] = ()
    """How many Pods are wanted from each time on, where it is stated."""

    all_endings: Sequence[Ending] = ()
    """In order of time, without routine ones."""

    endings: Sequence[Ending] = ()
    """Those of the window."""

    ended: dict[EntryName, Workload] = field(default_factory=dict)
    """Which of its groups each of them ended."""

    @property
    def pods(self) -> list[Placement]:
        """The Pods of all its groups."""
        return [pod for group in self.groups.values() for pod in group]

    @property
    def gang_size(self) -> int:
        """How many members ran together: the most that were wanted.

        Where nothing states it, the most Pods that were bound at the same
        time, or those that wait if none ever was.
        """
        wanted = max((number for _, number in self.members), default=0)
        if wanted:
            return wanted
        pods = self.pods
        size, _ = most_at_once((p.bound_at, p.left_at, 1) for p in pods)
        return size or sum(p.ended_at is None for p in pods)

    @property
    def gpus(self) -> int:
        """The GPUs of the most Pods that were bound at the same time."""
        pods = self.pods
        gpus, _ = most_at_once((p.bound_at, p.left_at, p.gpus) for p in pods)
        return gpus

    @property
    def began_at(self) -> datetime:
        """When the first of its Pods was created; without Pods, when it was.

        A list shows them later, and their own times are older than that.
        """
        stated = (
            moment(detail.state.created_at)
            for stored in self.facts
            if is_listed(stored)
            and isinstance(detail := stored.fact.detail, Appeared)
            and stored.fact.object is not None
            and (stored.fact.object.kind == "Pod" or not self.pods)
        )
        return min([self.candidate.began_at, *filter(None, stated)])

    @property
    def ended_at(self) -> datetime | None:
        """When it completed, failed or was deleted."""
        decided_at = self.workloads.decided_at(self.workload)
        return decided_at or self.gone_at

    @property
    def slurm(self) -> SlurmNames | None:
        """The names of a job of Slurm; None of another workload."""
        return slurm_names(self.workload, self.facts)

    @property
    def queue(self) -> str | None:
        """The queue of Kueue or Volcano, or the partition of Slurm."""
        if self.slurm:
            return self.slurm.partition
        return self._written(QUEUES, "labels", "annotations") or (
            self._written(("queue",), "fields")
        )

    @property
    def priority(self) -> str | None:
        """Its PriorityClass; the QOS of a job of Slurm."""
        if self.slurm:
            return self.slurm.qos
        return self._written(("priority_class",), "fields")

    def _written(self, keys: Iterable[str], *members: str) -> str | None:
        """Return the first value of any key in what is known of it.

        In members of the states in which it and its Pods appeared.
        """
        for stored in self.facts:
            detail = stored.fact.detail
            if not isinstance(detail, Appeared):
                continue
            for key in keys:
                for member in members:
                    if value := getattr(detail.state, member).get(key):
                        return str(value)
        return None

    def state_by(self, workloads: Workloads, wanted: Wanted) -> None:
        """Read its state and size, from the facts about all workloads."""
        changes = sorted(
            (at, str(group), number)
            for group, pods in self.groups.items()
            for at, number in wanted.of(group, pods)
        )
        sizes: dict[str, int] = {}
        found: list[tuple[datetime, int]] = []
        for at, group, number in changes:
            sizes[group] = number
            found.append((at, sum(sizes.values())))
        self.members = found
        is_pod = self.workload.kind == "Pod"
        last = self.facts[-1].observed_at
        self.workloads = workloads
        self.gone_at = workloads.wanted_until(self.workload, last)
        pods = self.pods
        self.state, since = state_of(
            pods, self.workload, workloads, self.facts, is_pod=is_pod
        )
        if not pods:
            self.waiting_since = since
            return
        if is_pod and since is not None:
            self.gone_at = since
        if self.state is WorkloadState.PENDING and not any(
            pod.bound_at for pod in pods
        ):
            self.waiting_since = self.began_at

    def judge(
        self, hits: Sequence[Hit], verdicts: Sequence[Verdict], window: Window
    ) -> None:
        """Find what ended it in a window, without what is routine."""
        facts = facts_by_object(self.facts)
        # What is routine for a workload with other Pods ends this one.
        is_pod = self.workload.kind == "Pod"
        found: list[Ending] = []
        for one, members in self.groups.items():
            if not members:
                continue
            life = Life(one, members, facts, self.workloads)
            ended = [
                ending
                for ending in endings_of(life, hits, verdicts)
                if is_pod or not ending.routine
            ]
            found += ended
            self.ended |= {ending.id: one for ending in ended}
        found.sort(key=lambda ending: ending.at)
        self.all_endings = found
        self.endings = [
            one
            for one in found
            if (window.since is None or one.at >= window.since)
            and (window.until is None or one.at < window.until)
        ]
        lasting = [one for one in found if not one.routine]
        if not self.pods:
            return
        self.state = state_after(self.state, lasting, self.pods)
        if self.state is WorkloadState.SUSPENDED:
            self.waiting_since = lasting[-1].at

    def hours(self, window: Window, end: datetime) -> tuple[float, float]:
        """Return for how long it was wanted, and ran in full, in a window.

        Args:
            window: the window.
            end: where the record ends.
        """
        pods = self.pods
        begun = min((p.bound_at for p in pods if p.bound_at), default=None)
        if begun is None:
            return 0.0, 0.0
        since = max(begun, window.since) if window.since else begun
        until = min(filter(None, (self.ended_at, window.until, end)))
        starts = sorted(p.running_at for p in pods if p.running_at)
        idle: list[Time] = [
            (one.at, next((at for at in starts if at > one.at), until))
            for one in self.all_endings
            if one.ended_by is EndedBy.SUSPENSION
        ]
        down: list[Time] = [
            (one.at, one.running_again_at or until)
            for one in self.all_endings
            if one.outcome is not None
            and one.outcome not in {Outcome.SURVIVED, Outcome.COMPLETED}
        ]
        full = [
            (max(a, since), min(b, until))
            for a, b in full_spans(pods, self.gang_size, until, self.members)
        ]
        ends = [at for at, _ in self.members[1:]]
        idle += [
            (at, over)
            for (at, number), over in zip(
                self.members, [*ends, until], strict=False
            )
            if not number
        ]
        wanted = total([(since, until)], idle)
        ran = total(full, [*idle, *down])
        return wanted.total_seconds() / 3600, ran.total_seconds() / 3600


async def families_of(
    reading: Reading, candidates: Sequence[Candidate], until: datetime | None
) -> list[Family]:
    """Read workloads with their Pods and states, in the same order.

    What had Pods, but none that may be seen, is left out.
    """
    uids = {uid: one for one in candidates for uid in one.uids}
    if not uids:
        return []
    facts = await reading.facts(
        FactQuery(purpose=Purpose.FAMILY, uids=[*uids], until=until)
    )
    workloads, above = Workloads(facts), _owners(facts)
    found: dict[Workload, Family] = {}
    of_uid: dict[str, Family] = {}
    for pod in Placements(facts):
        named, candidate = workloads.of(pod), _top_of(pod, above, uids)
        if named is None or candidate is None:
            continue
        whole = replace(named, group=UNSET)
        family = found.setdefault(whole, Family(candidate, whole, facts))
        family.groups.setdefault(named, []).append(pod)
        of_uid[pod.key] = family
        of_uid.setdefault(named.uid or "", family)
    for alone in _without_pods(candidates, facts):
        family = found.setdefault(alone.workload, alone)
        of_uid.setdefault(alone.candidate.uids[0], family)
    for stored in facts:
        thing = stored.fact.object
        about = None if thing is None else of_uid.get(thing.key)
        if about is not None:
            about.facts.append(stored)
    wanted = Wanted(facts)
    for family in found.values():
        family.state_by(workloads, wanted)
    return sorted(found.values(), key=lambda one: one.candidate.place)


def _without_pods(
    candidates: Iterable[Candidate], facts: Sequence[StoredFact]
) -> list[Family]:
    """Return the workloads that have facts of their own, but no Pods."""
    known = {s.fact.object.key for s in facts if s.fact.object is not None}
    found = []
    for one in candidates:
        if one.has_pods or one.kind == "Pod" or one.uids[0] not in known:
            continue
        alone = Workload(one.kind, one.namespace, one.name, one.uids[0])
        found.append(Family(one, alone, facts, groups={alone: []}))
    return found


def _owners(facts: Iterable[StoredFact]) -> Mapping[str, Sequence[str]]:
    """Return the UIDs of the owners of each object."""
    found: dict[str, Sequence[str]] = {}
    for stored in facts:
        thing, detail = stored.fact.object, stored.fact.detail
        if thing is not None and isinstance(detail, Appeared | Vanished):
            owners = [one.uid for one in detail.state.owners if one.uid]
            found.setdefault(thing.uid or "", owners)
    return found


def _top_of(
    pod: Placement,
    above: Mapping[str, Sequence[str]],
    tops: Mapping[str, Candidate],
) -> Candidate | None:
    """Return the workload in question that a Pod belongs to."""
    seen: set[str] = set()
    pending = [pod.pod.uid or ""]
    while pending:
        uid = pending.pop()
        if uid in tops:
            return tops[uid]
        if uid not in seen:
            seen.add(uid)
            pending += above.get(uid, ())
    return None


async def judge_families(
    reading: Reading,
    families: Sequence[Family],
    window: Window,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> None:
    """Find what ended workloads in a window; all were read together."""
    facts = families[0].read if families else ()
    pods = [pod for family in families for pod in family.pods]
    hits, verdicts = await hits_on(
        reading, facts, pods, window.until, knowledge, now=now
    )
    of_node: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        of_node.setdefault(verdict.node, []).append(verdict)
    of_workload: dict[Workload, list[Hit]] = {}
    for hit in hits:
        of_workload.setdefault(hit.workload, []).append(hit)
    for family in families:
        nodes = {pod.node for pod in family.pods if pod.node is not None}
        family.judge(
            [hit for one in family.groups for hit in of_workload.get(one, ())],
            [one for node in sorted(nodes) for one in of_node.get(node, ())],
            window,
        )


async def described(
    reading: Reading,
    family: Family,
    ending: Ending,
    knowledge: Knowledge,
) -> Ending:
    """Return an ending of a workload with its author and its sentence."""
    authored = await with_author(reading, ending, knowledge)
    said = ending_sentence(family.ended[ending.id], authored, None)
    return replace(authored, sentence=said).bounded()
