"""Facets: how many incidents have each value of a filter.

The values are those of `IncidentFilter`: selecting one returns as many
incidents as were counted.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from recorder.answers.creators import name_of
from recorder.answers.families import Candidate, Family
from recorder.answers.incidents import Incident
from recorder.answers.loading.places import Whereabouts


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


class WorkloadFacet(StrEnum):
    """What workloads are filtered by."""

    KIND = "kind"
    NAMESPACE = "namespace"
    STATE = "state"
    ENDED_BY = "ended-by"
    """Of any of its endings in the window."""

    QUEUE = "queue"
    """Of Kueue or Volcano; the partition of a job of Slurm."""

    PRIORITY = "priority"
    """Its PriorityClass; the QOS of a job of Slurm."""

    USER = "user"
    """Who created it, by the audit log or by Slurm."""


Counts = Sequence[tuple[str | None, int]]
Facets = Mapping[Facet, Counts]
WorkloadFacets = Mapping[WorkloadFacet, Counts]


def facets_of(
    incidents: Iterable[Incident],
    places: Whereabouts,
) -> Facets:
    """Count incidents by each facet, the most frequent value first.

    An incident counts once for each of its values: it can have several racks
    and namespaces, and one value of the others. None counts those without.
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


def place_facets(candidates: Iterable[Candidate]) -> WorkloadFacets:
    """Count workloads by what is known of them before they are judged."""
    found = [(one.kind, one.namespace) for one in candidates]
    return {
        WorkloadFacet.KIND: in_order(Counter(kind for kind, _ in found)),
        WorkloadFacet.NAMESPACE: in_order(Counter(name for _, name in found)),
    }


def workload_facets(
    found: Iterable[tuple[Family, Iterable[str]]],
    users: Mapping[str, str | None],
) -> WorkloadFacets:
    """Count workloads, each with the words for its endings, by each facet."""
    counts = {facet: Counter[str | None]() for facet in WorkloadFacet}
    for family, ended_by in found:
        counts[WorkloadFacet.KIND][family.workload.kind] += 1
        counts[WorkloadFacet.NAMESPACE][family.workload.namespace] += 1
        counts[WorkloadFacet.STATE][family.state.value] += 1
        counts[WorkloadFacet.ENDED_BY].update({*ended_by})
        counts[WorkloadFacet.QUEUE][family.queue] += 1
        counts[WorkloadFacet.PRIORITY][family.priority] += 1
        counts[WorkloadFacet.USER][users.get(name_of(family))] += 1
    return {facet: in_order(words) for facet, words in counts.items()}
