"""Verdicts: what happened to a node, why, and on what evidence."""

from datetime import datetime
from typing import Self

import strawberry
from msgspec.structs import asdict

from api.describing import described
from api.publishing import publish
from api.types.contests import Contest, NodeContest
from api.types.coverage import Coverage, Window
from api.types.durations import Duration
from api.types.paths import (
    Actor,
    AnsweredFault,
    Intervention,
    Step,
    actor_of,
    because_of,
    intervention_of,
    step_of,
)
from api.types.words import (
    Cause,
    Confidence,
    Happened,
    Mode,
    SourceName,
)
from recorder.documents.verdict import EvidenceDocument, VerdictDocument
from recorder.explain import verdict as judged
from recorder.model.outcomes import Decision, Fault, Role

__all__ = ["Verdict", "Why"]

publish(judged.Rival)
publish(judged.Missing, name="MissingEvidence")


@described
class FaultFound:
    """What broke."""

    class_: Fault = strawberry.field(name="class")

    says: str

    at: datetime


@described
class DecisionFound:
    """What somebody decided."""

    class_: Decision = strawberry.field(name="class")

    actor: Actor
    """Who decided; a person, if recorded."""

    carried_out_by: Actor | None
    """Who did it; null where the actor did."""

    says: str

    at: datetime


@described
class Evidence:
    """One signal of the episode."""

    entry: strawberry.ID
    """The entry that proves it, `LOG/POSITION`."""

    role: Role

    source: SourceName

    occurred_at: datetime | None

    observed_at: datetime

    at: datetime
    """When it happened, or when it was observed."""

    says: str


@described
class Contradiction:
    """Two conflicting records."""

    entry: strawberry.ID

    says: str

    but: str
    """What the other record says."""


@described
class Between:
    """Time bounds of when it happened."""

    last: datetime | None
    """The last proof of the old state."""

    first: datetime
    """The first proof of the new one."""


@described
class Verdict:
    """What happened, why, who decided it, and the evidence."""

    id: strawberry.ID
    """The first entry of its effect; stable on the same log."""

    node: str

    node_uid: str | None

    happened: Happened

    boot_id_before: str | None

    boot_id_after: str | None

    between: Between

    not_before: datetime | None
    """The last proof of the old state."""

    not_after: datetime
    """The first proof of the new one."""

    down_seconds: float | None
    """The time from the last proof that the node was alive to the next one.
    Null if the node was never down, has not come back, or no proof from before
    is recorded."""

    away_seconds: float | None
    """How long it was not in service; null while it is not."""

    duration: Duration | None
    """How long it lasted, as its sentence says: down, or else away from
    service. Null if neither is known."""

    clock_skew_seconds: float
    """How far the clock of the node is ahead, by the times that it reports;
    negative if it is behind. The times of this answer are corrected by it."""

    began_at: datetime
    """Time of its first signal."""

    at: datetime
    """When it happened."""

    back_in_service_at: datetime | None
    """Ready, without taints, and not cordoned; null while it is not."""

    mode: Mode

    cause: Cause

    fault: FaultFound | None

    decision: DecisionFound | None

    because: AnsweredFault | None

    intervention: Intervention | None

    steps: list[Step]
    """The path, at most seven, in the order of the log."""

    sentence: str
    """A one-sentence summary."""

    confidence: Confidence

    evidence: list[Evidence]

    evidence_left_out: int
    """Signals of the same episode not listed in the evidence."""

    rivals: list[judged.Rival]

    contradictions: list[Contradiction]

    gaps: list[strawberry.ID]
    """Entries of the gaps that reduce its confidence."""

    missing: list[judged.Missing]

    contest: Contest | None
    """The contest that it is part of, if two undid each other's cordon."""

    contests: list[NodeContest]
    """The contests that it is part of, over any field of the Node."""

    @classmethod
    def of(cls, verdict: judged.Verdict) -> Self:
        """Take it from an answer, in the words of its JSON."""
        told = VerdictDocument.of(verdict)
        return cls(
            id=strawberry.ID(verdict.id),
            node=verdict.node,
            node_uid=verdict.node_uid,
            happened=verdict.happened,
            boot_id_before=verdict.boot_id_before,
            boot_id_after=verdict.boot_id_after,
            between=Between(last=verdict.between[0], first=verdict.between[1]),
            not_before=verdict.not_before,
            not_after=verdict.not_after,
            down_seconds=told.down_seconds,
            away_seconds=told.away_seconds,
            duration=Duration.of(verdict.duration),
            clock_skew_seconds=told.clock_skew_seconds,
            because=because_of(verdict.because),
            intervention=intervention_of(verdict.decision),
            steps=[step_of(step) for step in verdict.steps],
            began_at=verdict.began_at,
            at=verdict.effect.stored.at,
            back_in_service_at=verdict.back_in_service_at,
            mode=verdict.mode,
            cause=verdict.cause,
            fault=_fault(verdict.fault),
            decision=_decision(verdict.decision),
            sentence=verdict.sentence,
            confidence=verdict.confidence,
            evidence=[
                _evidence(one, said)
                for one, said in zip(
                    verdict.evidence, told.evidence, strict=True
                )
            ],
            evidence_left_out=verdict.left_out,
            rivals=[*verdict.rivals],
            contradictions=[
                Contradiction(**asdict(said)) for said in told.contradictions
            ],
            gaps=[strawberry.ID(gap) for gap in told.gaps],
            missing=[*verdict.missing],
            contest=None
            if verdict.contest is None
            else Contest.of(verdict.contest),
            contests=[NodeContest.of(one) for one in verdict.contests],
        )


def _fault(faulted: judged.Faulted | None) -> FaultFound | None:
    if faulted is None:
        return None
    sign = faulted.sign
    return FaultFound(class_=faulted.fault, says=sign.says, at=sign.stored.at)


def _decision(decided: judged.Decided | None) -> DecisionFound | None:
    if decided is None:
        return None
    by, sign = decided.carried_out_by, decided.sign
    return DecisionFound(
        class_=decided.decision,
        actor=actor_of(decided.actor),
        carried_out_by=None if by is None else actor_of(by),
        says=sign.says,
        at=sign.stored.at,
    )


def _evidence(one: judged.Evidence, said: EvidenceDocument) -> Evidence:
    return Evidence(
        entry=strawberry.ID(said.entry),
        role=Role(said.role),
        source=SourceName(said.source),
        occurred_at=said.occurred_at,
        observed_at=said.observed_at,
        at=one.sign.stored.at,
        says=said.says,
    )


@described
class Why:
    """What happened to a node, with confidence."""

    node: str

    window: Window
    """The window of the query."""

    verdicts: list[Verdict]
    """In order; empty if no incident is recorded."""

    coverage: Coverage
