"""Signals: facts in their possible roles, by rules.

Only this package reads what controllers write; tracks and links combine
signals.
"""

from collections.abc import Iterable

from recorder.explain.knowledge import Knowledge
from recorder.explain.signals.around import (
    certificate_signals,
    claim_signals,
    event_signals,
    other_signals,
    pod_signals,
    request_signals,
)
from recorder.explain.signals.node import node_signals
from recorder.explain.signals.signal import Signal, Subject, Topic
from recorder.model.fact import StoredFact
from recorder.model.facts import Claimed, EventOccurred, LeaseSilent, Requested
from recorder.model.outcomes import Role


def signals_of(
    stored: StoredFact, knowledge: Knowledge, *, node: str
) -> list[Signal]:
    """Return the signals that a fact is for a node that it concerns."""
    found: Iterable[Signal]
    match stored.fact.detail, stored.fact.about:
        case EventOccurred() as event, about:
            found = event_signals(stored, event, about, knowledge)
        case Claimed() as claim, _:
            found = claim_signals(stored, claim, knowledge)
        case Requested() as request, _:
            found = request_signals(stored, request, knowledge)
        case LeaseSilent(), _:
            found = [Signal(Role.EFFECT, Subject(Topic.SILENCE), stored)]
        case _, "Node":
            found = node_signals(stored, knowledge)
        case _, "CertificateSigningRequest":
            found = certificate_signals(stored)
        case _, "Pod":
            found = pod_signals(stored, knowledge)
        case _:
            found = other_signals(stored, knowledge, node)
    return list(found)
