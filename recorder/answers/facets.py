"""Facets: how many incidents have each value of a filter.

The values are those of `IncidentFilter`: selecting one returns as many
incidents as were counted.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from recorder.answers.incidents import JudgedIncident

__all__ = ["Facet", "Facets", "facets_of", "in_order"]


class Facet(StrEnum):
    """What incidents are filtered by."""

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
    """Count incidents by each facet, the most frequent value first.

    An incident counts once for each of its values: it can have several racks
    and namespaces, and one value of the others. None counts those without.

    Args:
        incidents: the incidents to count.
        places: labels of their nodes that name a place, by node.
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
    """Return counts, the highest first; of equal ones None is last."""
    return sorted(
        words.items(),
        key=lambda one: (-one[1], one[0] is None, one[0] or ""),
    )
