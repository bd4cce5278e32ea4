"""Proofs of life: what a node itself wrote, and nobody else for it.

Its kubelet's status, Events, requests and leases prove it; what controllers
write about it does not, nor what a list shows.
"""

from datetime import datetime

from recorder.facts import is_evidence
from recorder.model.fact import FactKind, StoredFact

__all__ = ["life_proved"]

KUBELET = "kubelet"

_SHOWN = frozenset({FactKind.APPEARED, FactKind.VANISHED})


def life_proved(stored: StoredFact, node: str) -> datetime | None:
    """Return when a fact proves its node to have been alive, if it does.

    An Event counts for the beginning of the second that it claims. What its
    kubelet says of the daily life of Pods is not looked at: there is so much.
    """
    fact = stored.fact
    if fact.kind is FactKind.LEASE_SILENT:
        return stored.at
    if fact.kind is FactKind.REQUESTED:
        return stored.at if fact.actor == f"system:node:{node}" else None
    if fact.actor != KUBELET or fact.kind in _SHOWN or not is_evidence(fact):
        return None
    return min(stored.at, stored.observed_at)
