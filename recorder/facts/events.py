"""Occurrences: what a Kubernetes Event says, and how often by now.

A count that rises is another occurrence; each version is a fact with its
count, and who asks subtracts. The going of an Event is its expiry, and no
fact.
"""

from recorder.classify.shapes import Event, Naming, Series
from recorder.facts.texts import TEXT_CHARACTERS_MAX
from recorder.model.entry import Draft
from recorder.model.fact import Fact, FactKind
from recorder.model.facts import EventOccurred

__all__ = ["occurrence"]

EVENT = FactKind.EVENT
_UNNAMED = Naming()
_NO_SERIES = Series()


def occurrence(event: Event, draft: Draft) -> Fact:
    """Return the fact that one version of an Event is."""
    metadata = event.metadata or _UNNAMED
    series = event.series or _NO_SERIES
    reporter = event.source or event.deprecated_source
    message = event.message or event.note or ""
    host = reporter.host if reporter is not None else None
    detail = EventOccurred(
        type=event.type or None,
        reason=event.reason or None,
        message=message[:TEXT_CHARACTERS_MAX] or None,
        count=event.count or event.deprecated_count or series.count or 1,
        event=metadata.uid or metadata.name or None,
        action=event.action or None,
        host=host or None,
        first=event.first_timestamp or None,
    )
    return Fact(
        kind=EVENT,
        node=draft.node,
        object=draft.identity,
        occurred_at=draft.occurred_at,
        actor=draft.actor,
        detail=detail,
    )
