"""Shorthands: bytes in, a draft out."""

from datetime import UTC, datetime
from typing import Any

from recorder.facts.classify import draft, read_object
from recorder.model.entry import Draft, Operation
from recorder.model.reference import Resource
from tests.classify.documents import compact

__all__ = ["AT", "EVENTS", "LEASES", "NODES", "PODS", "at", "drafted"]

AT = datetime(2026, 3, 1, 3, 15, tzinfo=UTC)
EVENTS = "v1/events"
LEASES = "coordination.k8s.io/v1/leases"
NODES = "v1/nodes"
PODS = "v1/pods"


def at(text: str) -> datetime:
    """Read a time of the examples."""
    return datetime.fromisoformat(text)


def drafted(
    document: Any, resource: str = PODS, kind: str | None = None
) -> Draft:
    """Return the draft of a document, given as bytes or decoded."""
    raw = document if isinstance(document, bytes) else compact(document)
    return draft(
        read_object(raw, resource=Resource.parse(resource)),
        kind=kind,
        operation=Operation.ADDED,
        observed_at=AT,
        source="watch",
    )
