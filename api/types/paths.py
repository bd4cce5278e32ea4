"""The path of a verdict: who acted, upon what, in which steps."""

from datetime import datetime

import strawberry

from api.describing import described
from api.types.words import ActorKind, Confidence
from recorder.explain import signals
from recorder.explain import verdict as judged
from recorder.model.outcomes import Role

__all__ = [
    "Actor",
    "AnsweredFault",
    "Intervention",
    "Step",
    "actor_of",
    "because_of",
    "intervention_of",
    "step_of",
]


@described
class Actor:
    """Who acted."""

    kind: ActorKind

    name: str | None
    """Null if unknown."""

    tool: str | None
    """The tool used, if the actor is unknown."""


@described
class Intervention:
    """What one author did to the node."""

    actor: Actor

    since: datetime | None
    """When its first step was seen."""

    entries: list[strawberry.ID]
    """Its steps, in the order of the log."""


@described
class AnsweredFault:
    """The fault that an intervention responds to."""

    entry: strawberry.ID

    says: str

    confidence: Confidence


@described
class Step:
    """One step of the path, with every entry that records it."""

    role: Role

    at: datetime

    says: str

    actor: Actor | None

    entries: list[strawberry.ID]


def actor_of(actor: signals.Actor | None) -> Actor:
    """Take an actor, or somebody unknown, from an answer."""
    return Actor(
        kind=ActorKind(actor.kind) if actor else ActorKind.UNKNOWN,
        name=actor.name if actor else None,
        tool=actor.tool if actor else None,
    )


def because_of(because: judged.Because | None) -> AnsweredFault | None:
    """Take the fault that was answered from an answer."""
    if because is None:
        return None
    return AnsweredFault(
        entry=strawberry.ID(str(because.sign.stored.entry)),
        says=because.sign.says,
        confidence=Confidence(because.strength),
    )


def intervention_of(decided: judged.Decided | None) -> Intervention | None:
    """Take what was decided from an answer, as what its author did."""
    if decided is None:
        return None
    return Intervention(
        actor=actor_of(decided.actor),
        since=decided.since,
        entries=[strawberry.ID(str(entry)) for entry in decided.entries],
    )


def step_of(step: judged.Step) -> Step:
    """Take a step of the path from an answer."""
    return Step(
        role=Role(step.role),
        at=step.at,
        says=step.says,
        actor=None if step.actor is None else actor_of(step.actor),
        entries=[strawberry.ID(str(entry)) for entry in step.entries],
    )
