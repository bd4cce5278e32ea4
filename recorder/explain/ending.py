"""Endings of a workload or its Pods, as the public interface shows them.

Fields whose written names begin with an underscore are for the engine and for
reports.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Self

from msgspec import field
from msgspec.structs import replace

from recorder.explain.hit import Hit
from recorder.explain.signals.actor import Actor
from recorder.explain.verdict import Missing, Verdict
from recorder.facts import says_with_object
from recorder.facts.slurm import part_of
from recorder.model.document import Document, Private
from recorder.model.fact import StoredFact
from recorder.model.facts import ContainerEnded
from recorder.model.outcomes import (
    Cause,
    Confidence,
    EndedBy,
    Happened,
    Outcome,
)
from recorder.model.reference import EntryName

NAMES_MAX: Final = 500
"""Pods and nodes that an ending names in an answer, about 75 kB; a gang of
hundreds of nodes fits, the replicas of a Deployment may not."""


class FailedContainer(Document, frozen=True, kw_only=True):
    """A container that failed."""

    name: str
    exit_code: int | None
    signal: int | None
    reason: str | None
    message: str | None

    @classmethod
    def of(cls, ended: ContainerEnded) -> Self:
        """Return the container that a fact describes."""
        return cls(
            name=ended.container,
            exit_code=ended.exit_code,
            signal=ended.signal,
            reason=ended.reason,
            message=ended.message,
        )


class RecordedFact(Document, frozen=True, kw_only=True):
    """A fact that records an ending."""

    entry: EntryName
    occurred_at: datetime | None
    observed_at: datetime
    says: str
    stored: Private[StoredFact] = field(name="_stored")

    @classmethod
    def of(cls, stored: StoredFact) -> Self:
        """Return a stored fact as a record."""
        return cls(
            entry=stored.entry,
            occurred_at=stored.fact.occurred_at,
            observed_at=stored.observed_at,
            says=says_with_object(stored.fact),
            stored=stored,
        )

    @property
    def at(self) -> datetime:
        """When it happened, or when it was observed."""
        return self.occurred_at or self.observed_at


class LostMember(Document, frozen=True, kw_only=True):
    """A Pod that an ending ended or stopped."""

    pod: str
    node: str | None

    says: str
    """What the record of its end says."""

    entry: EntryName


class Preemptor(Document, frozen=True, kw_only=True):
    """The workload that took the place of another."""

    kind: str
    namespace: str
    name: str

    pod: str | None
    """Its Pod, if a Pod preempted another."""

    actor: Actor | None
    """Who created it, where audit says so."""


class NodesAlike(Document, frozen=True, kw_only=True):
    """How many further nodes the same happened to, for the same cause."""

    happened: Happened
    cause: Cause
    nodes: int


class Ending(Document, frozen=True, kw_only=True):
    """What ended a workload, or Pods of it, at one time."""

    id: EntryName
    """The entry of the first Pod that it ended, or of its first record;
    stable on the same log."""

    ended_by: EndedBy

    at: datetime
    """When its first signal was observed; for a container that failed
    repeatedly, the last time."""

    first_at: datetime | None
    """The first time a container failed so; null if it failed once."""

    count: int
    """How often a container failed so."""

    node: str | None
    """The first node on which Pods were lost."""

    nodes: Sequence[str]
    """Every node on which Pods were lost, beginning with the first, then
    those on which Pods were only stopped. At most 500, as of Pods."""

    node_count: int
    """How many nodes these are, also those that are not named."""

    pods: Sequence[str]
    """The Pods that it ended; empty if it ended the workload itself."""

    pod_count: int
    """How many Pods it ended, also those that are not named."""

    members: Sequence[LostMember]
    """The Pods that it ended or stopped, in the order of the log."""

    stopped: Sequence[str]
    """The Pods that were stopped because the workload did not go on."""

    container: FailedContainer | None
    """The container that failed by itself."""

    outcome: Outcome | None
    """What became of the workload; null if it ended with it."""

    running_again_at: datetime | None

    actor: Actor | None
    """Who deleted or suspended it, where audit says so."""

    preemptor: Preemptor | None
    """What took its place, where that is recorded."""

    gpu_hours_lost: float | None
    """Lower bound; work since the last checkpoint is not known."""

    confidence: Confidence
    """That this is what ended it."""

    sentence: str
    evidence: Sequence[RecordedFact]
    missing: Sequence[Missing]

    verdict: Verdict | None
    """What happened to the node, where that ended the Pods."""

    verdicts: Sequence[Verdict]
    """What happened to each of the nodes, the first of them first; empty if
    that did not end the Pods. Of ten nodes at most."""

    more_verdicts: Sequence[NodesAlike]
    """How many further nodes have a verdict, by what happened and why."""

    every_verdict: Sequence[Verdict] = field(name="_every_verdict")
    hit: Hit | None = field(name="_hit")
    routine: bool = field(name="_routine")
    """Whether it is routine for a workload that keeps running: a Pod that
    completed, or that a Deployment replaced. Only answers about the Pod list
    it."""

    @property
    def part(self) -> str:
        """What its Pods are called in a text: those of Slurm are members."""
        found = {part_of(one.stored.fact.object) for one in self.evidence}
        return "member" if found == {"member"} else "Pod"

    def bounded(self) -> Self:
        """Return it with as many names as an answer may have."""
        return replace(
            self,
            nodes=self.nodes[:NAMES_MAX],
            pods=self.pods[:NAMES_MAX],
            stopped=self.stopped[:NAMES_MAX],
            members=self.members[:NAMES_MAX],
        )
