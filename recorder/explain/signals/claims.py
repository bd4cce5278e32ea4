"""Signals of claims: what other systems posted, by the types of the rules.

Also how far a kubelet came that joins, by its request for a certificate.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from recorder.explain.knowledge import Knowledge
from recorder.explain.knowledge.claiming import member, time_of
from recorder.explain.knowledge.rules import Claimant, ClaimType
from recorder.explain.signals.actor import UNKNOWN, Actor
from recorder.explain.signals.signal import Signal, Subject, Topic
from recorder.model.fact import StoredFact
from recorder.model.facts import Appeared, Claimed, ConditionChanged
from recorder.model.outcomes import Role


def claim_signals(
    stored: StoredFact, claim: Claimed, knowledge: Knowledge
) -> Iterator[Signal]:
    """Yield the signal of a claim, if its type says that it is evidence."""
    found = knowledge.claimed(claim)
    if found is None:
        return
    kind, rule = found
    yield Signal(
        rule.role,
        _subject(kind, claim),
        _dated(stored, kind, claim),
        rule.fault,
        rule.decision,
        _actor(rule.actor, claim),
        vague=rule.vague,
        over=rule.role is Role.RECOVERY and kind.holds,
        excludes=rule.excludes,
    )


def certificate_signals(stored: StoredFact) -> Iterator[Signal]:
    """Yield how far a kubelet came that asked for a certificate."""
    stage = None
    match stored.fact.detail:
        case Appeared(created=True):
            stage = "requested"
        case ConditionChanged(type=name, new=new) if new is not None:
            stage = name.lower()  # approved, denied or failed
    if stage is not None:
        subject = Subject(Topic.STAGE, f"certificate-{stage}")
        yield Signal(Role.RECOVERY, subject, stored)


def _subject(kind: ClaimType, claim: Claimed) -> Subject:
    if kind.stage:
        return Subject(
            Topic.STAGE, "".join(member(claim.data, kind.stage)[:1])
        )
    things = [
        value for path in kind.each for value in member(claim.data, path)
    ]
    name = " ".join([kind.type, claim.subject, *things])
    return Subject(Topic.CLAIMED_STATE if kind.holds else Topic.CLAIM, name)


def _dated(stored: StoredFact, kind: ClaimType, claim: Claimed) -> StoredFact:
    """Return a claim with the time in its data, if its envelope has none.

    A time after its observation is that of a wrong clock.
    """
    if stored.fact.occurred_at is not None:
        return stored
    at = time_of(kind, claim)
    if at is None or at > stored.observed_at:
        return stored
    return replace(stored, fact=replace(stored.fact, occurred_at=at))


def _actor(rule: Claimant | None, claim: Claimed) -> Actor | None:
    if rule is None:
        return None
    named = member(claim.data, rule.member) if rule.member else []
    name = next(iter(named), rule.name)
    return Actor(kind=rule.kind, name=name) if name else UNKNOWN
