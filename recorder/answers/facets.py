"""Facets: how many incidents have each word by which they can be chosen.

The words are those that `IncidentFilter` selects by, so that choosing one
leaves as many as were counted.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from recorder.answers.incidents import JudgedIncident

__all__ = ["Facet", "Facets", "facets_of", "in_order"]


class Facet(StrEnum):
    """What incidents are chosen by."""

    CAUSE = "cause"
    HAPPENED = "happened"
    CONFIDENCE = "confidence"
    RACK = "rack"
    """Of any node that was struck; where no label names it, the switch."""

    NAMESPACE = "namespace"
    """Of any workload that was affected."""

    CONTROLLER = "controller"
    """The one that carried out the decision."""


Counts = Sequence[tuple[str | None, int]]
Facets = Mapping[Facet, Counts]


def facets_of(
    incidents: Iterable[JudgedIncident],
    places: Mapping[str, Mapping[str, str]],
) -> Facets:
    """Count incidents by each facet, the most frequent word first.

    An incident is counted once for each word that it has: one by most, but
    several by rack and namespace. None counts those that have no word.

    Args:
        incidents: to be counted.
        places: of their nodes the labels that say where they stand.
    """
    counts = {facet: Counter[str | None]() for facet in Facet}
    for incident in incidents:
        first = incident.first
        counts[Facet.CAUSE][first.cause.value] += 1
        counts[Facet.HAPPENED][first.happened.value] += 1
        counts[Facet.CONFIDENCE][first.confidence.value] += 1
        counts[Facet.CONTROLLER][incident.controller] += 1
        counts[Facet.RACK].update(incident.racks(places) or (None,))
        counts[Facet.NAMESPACE].update(incident.namespaces or (None,))
    return {facet: in_order(words) for facet, words in counts.items()}


def in_order(words: Counter[str | None]) -> Counts:
    """Return the most frequent word first, and none last of its like."""
    return sorted(
        words.items(),
        key=lambda one: (-one[1], one[0] is None, one[0] or ""),
    )
