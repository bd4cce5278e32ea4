"""Workloads of a fleet, drawn from a seed, and what became of each.

Every object changes as its controllers would change it. Workloads that a node
ends run on nodes that are lost once; all others run elsewhere. What ended a
workload and its last state follow from its fate alone.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

from recorder.model.observation import Observation
from recorder.model.reference import Resource
from tests.support.builders import (
    NODES,
    PODS,
    a_frame,
    a_list,
    a_node,
    an_object,
    at,
)

__all__ = ["FATES", "Drawn", "Truth", "drawn", "end"]

JOBS = Resource.parse("batch/v1/jobs")
JOBSETS = Resource.parse("jobset.x-k8s.io/v1alpha2/jobsets")
SETS = Resource.parse("apps/v1/statefulsets")

FATES = {
    "completes": "completion",
    "fails": "container-exit",
    "is-deleted": "deletion",
    "loses-node": "node-failure",
    "loses-one": "node-failure",
    "comes-back": "node-failure",
    "is-preempted": "preemption",
    "is-suspended": "suspension",
    "waits": None,
    "runs": None,
}
"""What becomes of workloads, and what is said to have ended them."""

STATES = {
    "completes": "completed",
    "fails": "failed",
    "is-deleted": "deleted",
    "loses-node": "down",
    "loses-one": "degraded",
    "comes-back": "running",
    "is-preempted": "down",
    "is-suspended": "suspended",
    "waits": "pending",
    "runs": "running",
}
"""How each is left, if a controller owns its Pods."""

OF_A_POD = FATES.keys() - {"loses-one", "comes-back", "is-suspended"}
"""A Pod without a controller is not made again, and has no such field."""

OF_A_JOBSET = FATES.keys() - {"loses-one"}
"""JobSet makes all members again, not one."""

LOST = ("lost-1", "lost-2", "lost-3")
STABLE = tuple(f"stable-{number:02}" for number in range(20))
LOST_AT = 4000.0
BACK_AT = LOST_AT + 120
LASTS = 6000.0

Make = Callable[[int], dict[str, Any]]


@dataclass(frozen=True)
class Truth:
    """A workload, and what became of it."""

    kind: str
    namespace: str
    name: str
    fate: str
    members: int
    gpus: int

    @property
    def state(self) -> str:
        """How it is left."""
        if self.kind == "Pod" and self.fate in {"loses-node", "is-preempted"}:
            return "deleted"
        return STATES[self.fate]


@dataclass
class Drawn:
    """The story: what is observed, in order of time, and its truth."""

    truths: list[Truth] = field(default_factory=list)
    _changes: list[tuple[float, Resource, str, Make]] = field(
        default_factory=list
    )

    def put(self, when: float, of: Resource, type_: str, make: Make) -> None:
        self._changes.append((when, of, type_, make))

    def batches(self, size: int = 500) -> Iterator[Sequence[Observation]]:
        """Yield the observations; versions are in order of time."""
        nodes = [a_node(name, 1) for name in (*LOST, *STABLE)]
        yield [
            a_list(NODES, 2, *map(_booted, nodes)),
            *(a_list(of, 2) for of in (PODS, JOBS, JOBSETS, SETS)),
        ]
        changes = sorted(self._changes, key=lambda change: change[0])
        seen = [
            a_frame(of, type_, make(version), when=when)
            for version, (when, of, type_, make) in enumerate(changes, 10)
        ]
        for start in range(0, len(seen), size):
            yield seen[start : start + size]


def drawn(
    seed: int,
    count: int,
    *,
    fates: Collection[str] = FATES,
    mark: str = "",
) -> Drawn:
    """Draw the fates of some workloads, with a mark in each name."""
    chance, story = Random(f"jobs {seed}"), Drawn()
    if "loses-node" in fates:
        _lose_nodes(story)
    able = {"Pod": OF_A_POD, "JobSet": OF_A_JOBSET}
    for number in range(count):
        kind = chance.choices(("Job", "JobSet", "Pod"), (6, 2, 2))[0]
        fate = chance.choice(
            [one for one in fates if one in able.get(kind, FATES)]
        )
        fewest = 2 if fate == "loses-one" else 1
        truth = Truth(
            kind,
            chance.choice(("train", "eval", "tune")),
            f"{kind.lower()}{mark}-{number}",
            fate,
            1 if kind == "Pod" else chance.randint(fewest, 3),
            chance.choice((0, 1, 8)),
        )
        story.truths.append(truth)
        _live(story, truth, chance)
    return story


def _booted(node: dict[str, Any], boot: str = "1") -> dict[str, Any]:
    name = node["metadata"]["name"]
    node["status"]["nodeInfo"] = {"bootID": f"{name}-{boot}"}
    return node


def _lose_nodes(story: Drawn) -> None:
    """Let nodes fall silent, and boot again."""
    for name in LOST:

        def silent(version: int, name: str = name) -> dict[str, Any]:
            return _booted(a_node(name, version, ready="Unknown"))

        def back(version: int, name: str = name) -> dict[str, Any]:
            return _booted(a_node(name, version), "2")

        story.put(LOST_AT, NODES, "MODIFIED", silent)
        story.put(LOST_AT + 300, NODES, "MODIFIED", back)


def _time(when: float) -> str:
    return f"{at(when):%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True)
class _Owner:
    resource: Resource
    kind: str
    version: str
    name: str
    uid: str


def _live(story: Drawn, truth: Truth, chance: Random) -> None:
    """Let a workload begin, run, and end as it was drawn."""
    began = chance.uniform(60, 3000)
    ends = began + chance.uniform(60, 600)
    owners = _begin(story, truth, began)
    pods = [
        _Pod(
            story,
            truth,
            owners,
            f"{truth.name}-{n}",
            chance.choice(LOST if _is_lost(truth, n) else STABLE),
        )
        for n in range(truth.members)
    ]
    if truth.fate == "waits":
        _each(pods, lambda pod: pod.wait(began + 5))
        return
    _each(pods, lambda pod: pod.run(began + 5))
    _meet(story, truth, owners, pods, ends)


def _is_lost(truth: Truth, member: int) -> bool:
    """Return whether a member runs on a node that is lost."""
    if truth.fate == "loses-one":
        return member == 0
    return truth.fate in {"loses-node", "comes-back"}


def _meet(
    story: Drawn,
    truth: Truth,
    owners: "Sequence[_Owner]",
    pods: "Sequence[_Pod]",
    ends: float,
) -> None:
    """Let a workload meet its fate."""
    first, *others = pods
    match truth.fate:
        case "completes":
            _each(pods, lambda pod: pod.end(ends, "Succeeded", code=0))
            _decide(story, truth, owners, ends + 2, "Complete")
        case "fails":
            first.end(ends, "Failed", code=1)
            _each(others, lambda pod: pod.delete(ends + 2))
            _decide(story, truth, owners, ends + 3, "Failed")
        case "is-deleted":
            for owner in reversed(owners):
                gone = _document(owner, truth)
                story.put(ends, owner.resource, "DELETED", gone)
            _each(pods, lambda pod: pod.delete(ends + 1))
        case "is-preempted":
            first.give_way(ends, "PreemptionByScheduler")
            _each(others, lambda pod: pod.delete(ends + 1))
        case "is-suspended":
            _suspend(story, truth, owners, ends)
            _each(pods, lambda pod: pod.delete(ends + 1))
        case _:
            _lose_members(story, truth, owners, pods)


def _lose_members(
    story: Drawn,
    truth: Truth,
    owners: "Sequence[_Owner]",
    pods: "Sequence[_Pod]",
) -> None:
    """Let members go with their nodes, and come back if they do."""
    for n, pod in enumerate(pods):
        if _is_lost(truth, n):
            pod.give_way(LOST_AT + 60, "DeletionByTaintManager")
        if truth.fate == "comes-back":
            name = f"{truth.name}-again-{n}"
            _Pod(story, truth, owners, name, STABLE[n]).run(BACK_AT)


def _suspend(
    story: Drawn, truth: Truth, owners: "Sequence[_Owner]", when: float
) -> None:
    """Suspend a workload, the highest owner first."""
    for place, owner in reversed([*enumerate(owners, 1)]):
        made = _document(owner, truth, owners[place:], suspended=True)
        story.put(when, owner.resource, "MODIFIED", made)


def _each(pods: "Sequence[_Pod]", do: "Callable[[_Pod], None]") -> None:
    for pod in pods:
        do(pod)


def _begin(story: Drawn, truth: Truth, began: float) -> list[_Owner]:
    """Create the owners of Pods, the nearest first."""
    chain: list[_Owner] = []
    if truth.kind == "Pod":
        return chain
    top = truth.name
    if truth.kind == "JobSet":
        of = _Owner(JOBSETS, "JobSet", "jobset.x-k8s.io/v1alpha2", top, top)
        chain.insert(0, of)
        top = f"{truth.name}-workers"
    chain.insert(0, _Owner(JOBS, "Job", "batch/v1", top, top))
    for place, owner in enumerate(chain):
        above = chain[place + 1 :]
        story.put(
            began, owner.resource, "ADDED", _document(owner, truth, above)
        )
    return chain


def _document(
    owner: _Owner,
    truth: Truth,
    above: Sequence[_Owner] = (),
    ended: tuple[str, float] | None = None,
    *,
    suspended: bool = False,
) -> Make:
    def make(version: int) -> dict[str, Any]:
        made = an_object(owner.name, version, uid=f"uid-{owner.uid}")
        made |= {"kind": owner.kind, "apiVersion": owner.version}
        made["metadata"]["namespace"] = truth.namespace
        made["metadata"]["ownerReferences"] = _references(above)
        if owner.kind == "Job":
            made["spec"] = {
                "parallelism": truth.members,
                "completions": truth.members,
            }
        if suspended:
            made.setdefault("spec", {})["suspend"] = True
            made["status"] = {
                "conditions": [{"type": "Suspended", "status": "True"}]
            }
        if ended is not None:
            condition, when = ended
            made["status"] = {
                "conditions": [
                    {
                        "type": condition,
                        "status": "True",
                        "reason": "BackoffLimitExceeded"
                        if condition == "Failed"
                        else "CompletionsReached",
                        "lastTransitionTime": _time(when),
                    }
                ]
            }
        return made

    return make


def _references(above: Sequence[_Owner]) -> list[dict[str, Any]]:
    return [
        {
            "apiVersion": one.version,
            "kind": one.kind,
            "name": one.name,
            "uid": f"uid-{one.uid}",
            "controller": True,
        }
        for one in above[:1]
    ]


def _decide(
    story: Drawn,
    truth: Truth,
    owners: Sequence[_Owner],
    when: float,
    condition: str,
) -> None:
    for place, owner in enumerate(owners):
        word = condition
        if owner.kind == "JobSet" and condition == "Complete":
            word = "Completed"
        make = _document(owner, truth, owners[place + 1 :], (word, when))
        story.put(when, owner.resource, "MODIFIED", make)


class _Pod:
    """A Pod and its changes."""

    def __init__(
        self,
        story: Drawn,
        truth: Truth,
        owners: Sequence[_Owner],
        name: str,
        node: str,
    ) -> None:
        self._story = story
        self._truth = truth
        self._owners = owners
        self._name = truth.name if truth.kind == "Pod" else name
        self._node = node
        self._began: float = 0

    def wait(self, when: float) -> None:
        self._began = when
        self._put(when, "ADDED", "Pending", node=None)

    def run(self, when: float) -> None:
        self.wait(when)
        self._put(when + 1, "MODIFIED", "Pending")
        self._put(when + 3, "MODIFIED", "Running")

    def end(self, when: float, phase: str, *, code: int) -> None:
        ended = {
            "exitCode": code,
            "reason": "Error" if code else "Completed",
            "finishedAt": _time(when),
        }
        self._put(when, "MODIFIED", phase, ended=ended)

    def delete(self, when: float) -> None:
        self._put(when, "MODIFIED", "Running", deleted=when)
        self._put(when + 1, "DELETED", "Running", deleted=when)

    def give_way(self, when: float, reason: str) -> None:
        for step, type_ in enumerate(("MODIFIED", "DELETED")):
            self._put(
                when + step, type_, "Running", deleted=when, reason=reason
            )

    def _put(  # noqa: PLR0913 - what a Pod shows
        self,
        when: float,
        type_: str,
        phase: str,
        *,
        node: str | None = "",
        ended: dict[str, Any] | None = None,
        deleted: float | None = None,
        reason: str | None = None,
    ) -> None:
        placed = self._node if node == "" else node
        truth, owners, began = self._truth, self._owners, self._began

        def make(version: int) -> dict[str, Any]:
            made = an_object(self._name, version)
            meta = made["metadata"]
            meta["namespace"] = truth.namespace
            meta["ownerReferences"] = _references(owners)
            if deleted is not None:
                meta["deletionTimestamp"] = _time(deleted)
            gpus = {"nvidia.com/gpu": str(truth.gpus)} if truth.gpus else {}
            container = {"name": "main", "resources": {"limits": gpus}}
            made["spec"] = {"containers": [container]}
            if placed is not None:
                made["spec"]["nodeName"] = placed
            state: dict[str, Any] = {"waiting": {}}
            if ended is not None:
                state = {"terminated": ended}
            elif phase == "Running":
                state = {"running": {"startedAt": _time(began + 3)}}
            made["status"] = {
                "phase": phase,
                "startTime": _time(began),
                "containerStatuses": [
                    {"name": "main", "restartCount": 0, "state": state}
                ],
            }
            if reason is not None:
                made["status"]["conditions"] = [
                    {
                        "type": "DisruptionTarget",
                        "status": "True",
                        "reason": reason,
                        "lastTransitionTime": _time(deleted or when),
                    }
                ]
            return made

        self._story.put(when, PODS, type_, make)


def end() -> datetime:
    """Return a time after everything."""
    return at(LASTS)
