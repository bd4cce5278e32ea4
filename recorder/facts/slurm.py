"""Facts of a run of Slurm: a job is a workload, and its nodes hold its Pods.

A claim of type ``slurm.run`` says what changed of one run: which nodes it got,
and how it ended. So the facts follow from it alone, as of a Job and its Pods:
a SlurmJob in the namespace of its Slurm cluster, and for each run and node a
member of kind Pod in the group of Slurm. Slurm's word on why a run ended is a
claim: what the kubelet and its Node show of the same time outranks it.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import msgspec
from msgspec import field

from recorder.model import facts
from recorder.model.entry import Draft
from recorder.model.fact import Fact, FactKind
from recorder.model.moment import written
from recorder.model.reference import ObjectIdentity
from recorder.model.state import Condition, ObjectState, Owner

RUN: Final = "slurm.run"
"""The type of the claims."""

SLURM_GROUP: Final = "slurm.schedmd.com"
SLURM_JOB: Final = "SlurmJob"

LABELS: Final = ("name", "user", "account", "partition", "qos")

CONTAINER: Final = "batch"
"""What the exit code of a job is of: its batch script."""

SIGNALLED: Final = 128
"""Added to a signal in the exit code that a shell reports."""

LATE: Final = frozenset({"TIMEOUT", "DEADLINE"})
FAILED: Final = frozenset({"FAILED", "OUT_OF_MEMORY"})
LOST: Final = frozenset({"NODE_FAIL", "BOOT_FAIL"})
PREEMPTED: Final = "PREEMPTED"
REQUEUED: Final = "REQUEUED"
HELD: Final = "held"
RELEASED: Final = "released"
NODE_LOST: Final = "NodeLost"
"""The reason of the member on the node that Slurm blames."""

BY_REQUEUE: Final = "Requeued"
"""The reason of a member that ended because its job was put back."""


def part_of(thing: ObjectIdentity | None) -> str:
    """Return what a Pod is called: of a job of Slurm it is a member."""
    is_member = thing is not None and thing.group == SLURM_GROUP
    return "member" if is_member else "Pod"


class Member(msgspec.Struct, frozen=True, array_like=True):
    """A node of a run."""

    name: str
    """As Slurm calls it."""

    node: str | None = None
    """The Node of Kubernetes, if it is known."""


class SlurmRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The data of a claim of type ``slurm.run``."""

    cluster: str
    job: int
    submit: int
    """When this run was submitted or requeued, in seconds since 1970."""

    state: str
    """As `sacct` writes it; ``REQUEUED`` if only that is known, ``UNKNOWN``
    if the job is gone."""

    was: str | None = None
    """The state before, of this run; None if it was not seen before."""

    epoch: int = 0
    """How often the ids of the cluster began anew."""

    top: int = 0
    """The array or het job that it is a part of; zero if of none."""

    name: str = ""
    user: str = ""
    account: str = ""
    partition: str = ""
    qos: str = ""
    reason: str = ""
    restarts: int = 0
    started: int = 0
    ended: int = 0
    exit_code: int | None = None
    signal: int | None = None
    failed_node: str = ""
    """The node that Slurm blames."""

    killed_by: str = ""
    """Who asked for its end."""

    preempted_by: str = ""
    """The job that took its place, if slurmctld's log says so."""

    size: int = 0
    gpus: int = 0
    first: bool = False
    """Whether nothing of the job was seen before."""

    hold: str = ""
    """``held`` or ``released``, if with this claim it was."""

    hold_by: str = ""
    """Who did that, if slurmctld's log says so."""

    hold_at: int = 0
    over: str = ""
    """How the whole job ended, if this ended it."""

    began: list[Member] = field(default_factory=list)
    """Nodes on which it began with this claim."""

    members: list[Member] = field(default_factory=list)
    """All nodes of the run."""

    @property
    def uid(self) -> str:
        """The identity of the job, over its runs."""
        return f"slurm/{self.cluster}/{self.epoch}/{self.top or self.job}"


class _Envelope(msgspec.Struct):
    type: str
    data: SlurmRun


_decode = msgspec.json.Decoder(_Envelope).decode


def run_facts(draft: Draft) -> Iterator[Fact]:
    """Yield the facts about the job and its members; none of other claims."""
    try:
        said = _decode(draft.raw)
    except ValueError:
        return
    if said.type == RUN:
        yield from _Facts(said.data, draft.observed_at).all()


class _Facts:
    """The facts of one claim."""

    def __init__(self, run: SlurmRun, observed_at: datetime) -> None:
        self._run = run
        self._observed = observed_at
        self._job = ObjectIdentity(
            SLURM_GROUP,
            SLURM_JOB,
            run.cluster,
            str(run.top or run.job),
            run.uid,
        )

    def all(self) -> Iterator[Fact]:
        run = self._run
        if run.first:
            yield self._job_appeared()
        if run.hold:
            yield self._held()
        for member in run.began:
            yield self._appeared(member)
        if run.ended or run.state == "UNKNOWN":
            for place, member in enumerate(run.members):
                yield from self._end(member, is_first=not place)
        if run.over:
            yield from self._over()

    def _fact(
        self,
        detail: facts.Detail,
        kind: FactKind,
        thing: ObjectIdentity,
        node: str | None,
        at: int,
        actor: str | None = None,
    ) -> Fact:
        """Return a fact, dated by Slurm's clock if that is not ahead."""
        when = datetime.fromtimestamp(at, UTC) if at else None
        if when is not None and when > self._observed:
            when = None
        return Fact(
            kind=kind,
            node=node,
            object=thing,
            occurred_at=when,
            seen_at=when,
            actor=actor,
            detail=detail,
        )

    def _job_appeared(self) -> Fact:
        run = self._run
        state = ObjectState(
            uid=run.uid,
            created_at=written(datetime.fromtimestamp(run.submit, UTC)),
            labels={
                name: value for name in LABELS if (value := getattr(run, name))
            },
            fields={"members": run.size} if run.size and not run.top else {},
        )
        detail = facts.Appeared(created=True, state=state)
        return self._fact(
            detail, FactKind.APPEARED, self._job, None, run.submit
        )

    def _held(self) -> Fact:
        """Return that the job was held or released, as of a suspension."""
        held = self._run.hold == HELD
        detail = facts.FieldChanged("suspend", not held, held)
        return self._fact(
            detail,
            FactKind.FIELD_CHANGED,
            self._job,
            None,
            self._run.hold_at,
            self._run.hold_by or None,
        )

    def _thing(self, member: Member) -> ObjectIdentity:
        run = self._run
        return ObjectIdentity(
            SLURM_GROUP,
            "Pod",
            run.cluster,
            f"{run.job}.{member.name}",
            f"{run.uid}/{run.job}/{run.submit}/{member.name}",
        )

    def _appeared(self, member: Member) -> Fact:
        run, thing = self._run, self._thing(member)
        owner = Owner(
            f"{SLURM_GROUP}/v1",
            SLURM_JOB,
            self._job.name,
            run.uid,
            controller=True,
        )
        nodes = max(len(run.members), 1)
        state = ObjectState(
            uid=thing.uid,
            node=member.node,
            labels={"slurm-node": member.name},
            owners=[owner],
            fields={"phase": "Running"},
            gpus=run.gpus // nodes,
        )
        return self._fact(
            facts.Appeared(created=True, state=state),
            FactKind.APPEARED,
            thing,
            member.node,
            run.started,
        )

    def _end(self, member: Member, *, is_first: bool) -> Iterator[Fact]:
        run, thing = self._run, self._thing(member)
        for kind, detail in self._ways(member, is_first=is_first):
            yield self._fact(detail, kind, thing, member.node, run.ended)

    def _ways(
        self, member: Member, *, is_first: bool
    ) -> Iterator[tuple[FactKind, facts.Detail]]:
        """Yield how a member ended, as of a Pod.

        What ended because another member did is gone, by its absence alone:
        why, the end of the other says.
        """
        run = self._run
        if run.state == PREEMPTED:
            yield _preempted(_message(run))
        elif run.state == "CANCELLED":
            asked = facts.DeletionRequested()
            yield FactKind.DELETION_REQUESTED, asked
        elif run.state in FAILED and is_first:
            yield FactKind.CONTAINER_ENDED, _failed(run)
        ended = self._reason(member, is_first=is_first)
        if ended is not None:
            yield FactKind.ENDED, ended
        else:
            gone = facts.Vanished(inferred=run.state != "CANCELLED")
            yield FactKind.VANISHED, gone

    def _reason(self, member: Member, *, is_first: bool) -> facts.Ended | None:
        """Return why a member ended, if it has a reason of its own."""
        run = self._run
        if run.state == "COMPLETED":
            return facts.Ended("Succeeded")
        if run.state in FAILED and is_first:
            return facts.Ended("Failed")
        reason = None
        if run.state in LATE and not run.over:
            reason = "DeadlineExceeded"
        elif run.state in LOST and member.name == run.failed_node:
            reason = NODE_LOST
        elif run.state == run.reason == REQUEUED:
            reason = BY_REQUEUE
        if reason is None:
            return None
        return facts.Ended("Failed", reason, _message(run))

    def _over(self) -> Iterator[Fact]:
        """Yield how the whole job ended."""
        run = self._run
        if run.over == "CANCELLED":
            yield self._fact(
                facts.DeletionRequested(),
                FactKind.DELETION_REQUESTED,
                self._job,
                None,
                run.ended,
            )
            yield self._fact(
                facts.Vanished(),
                FactKind.VANISHED,
                self._job,
                None,
                run.ended,
            )
            return
        done = run.over == "COMPLETED"
        reason = "DeadlineExceeded" if run.over in LATE else run.over
        yield self._fact(
            facts.ConditionChanged(
                "Complete" if done else "Failed",
                None,
                Condition("True", reason, _message(run)),
            ),
            FactKind.CONDITION_CHANGED,
            self._job,
            None,
            run.ended,
        )


def _preempted(message: str) -> tuple[FactKind, facts.Detail]:
    why = Condition("True", "PreemptionByScheduler", message)
    detail = facts.ConditionChanged("DisruptionTarget", None, why)
    return FactKind.CONDITION_CHANGED, detail


def _failed(run: SlurmRun) -> facts.ContainerEnded:
    code = run.exit_code
    if not code and run.signal:
        code = SIGNALLED + run.signal
    oom = run.state == "OUT_OF_MEMORY"
    return facts.ContainerEnded(
        CONTAINER,
        code or None,
        run.signal,
        "OOMKilled" if oom else "Error",
        _message(run),
    )


def _message(run: SlurmRun) -> str:
    """Return what Slurm says of the end, in one line."""
    said = [f"Slurm: {run.state}"]
    if run.reason and run.reason != run.state:
        said.append(run.reason)
    if run.failed_node:
        said.append(f"failed node {run.failed_node}")
    if run.preempted_by:
        said.append(f"for job {run.preempted_by}")
    if run.killed_by:
        said.append(f"by {run.killed_by}")
    return ", ".join(said)
