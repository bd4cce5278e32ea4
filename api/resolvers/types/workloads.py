"""Workloads of a log or a fleet, and what ended them."""

from collections import Counter
from collections.abc import Iterable
from typing import Self

import strawberry

from api.resolvers.types.coverage import Coverage
from api.resolvers.types.describing import described
from api.resolvers.types.endings import Ending
from api.resolvers.types.impact import Workload
from api.resolvers.types.incidents import FacetWord, Renamed
from api.resolvers.types.pages import PageInfo
from api.resolvers.types.publishing import publish
from api.resolvers.types.words import WorkloadFacet
from recorder.answers.facets import WorkloadFacets, in_order
from recorder.answers.jobs import Disruption, JobTotals, ListedWorkload

__all__ = [
    "Disruption",
    "DisruptionChanges",
    "DisruptionConnection",
    "DisruptionEdge",
    "Ending",
    "JobTotals",
    "ListedWorkload",
    "Workload",
    "WorkloadConnection",
    "WorkloadEdge",
    "WorkloadFacetCounts",
]

publish(JobTotals, name="WorkloadTotals")
publish(ListedWorkload)
publish(Disruption)


@described
class WorkloadFacetCounts:
    """How many workloads have each word of a facet."""

    facet: WorkloadFacet

    words: list[FacetWord]
    """The most frequent first. A workload may have ended in several ways, and
    has one word of everything else."""

    @classmethod
    def merged(cls, found: Iterable[WorkloadFacets]) -> list[Self]:
        """Add up the counts of several logs; omit what one did not count."""
        each = [*found]
        return [
            cls(
                facet=facet,
                words=[
                    FacetWord(word=word, count=count)
                    for word, count in in_order(
                        sum((Counter(dict(o[facet])) for o in each), Counter())
                    )
                ],
            )
            for facet in WorkloadFacet
            if all(facet in one for one in each)
        ]


@described
class WorkloadEdge:
    """A workload and its place."""

    cursor: str
    """Opaque cursor, valid for this log or this fleet only."""

    node: ListedWorkload


@described
class WorkloadConnection:
    """Workloads, the first begun first."""

    edges: list[WorkloadEdge]

    nodes: list[ListedWorkload]

    page_info: PageInfo

    facets: list[WorkloadFacetCounts]
    """Counts to narrow by, of the whole window and filter. If there are more
    than 500 workloads, only kinds and namespaces are counted."""

    totals: JobTotals
    """Of the whole window and filter."""

    coverage: Coverage


@described
class DisruptionEdge:
    """What ended a workload, and its place."""

    cursor: str
    """Opaque cursor, valid for this log or this fleet only."""

    node: Disruption


@described
class DisruptionConnection:
    """What ended workloads, or Pods of them, in order of time."""

    edges: list[DisruptionEdge]

    nodes: list[Disruption]

    page_info: PageInfo

    facets: list[WorkloadFacetCounts]
    """Counts of disruptions to narrow by, of the whole window and filter."""

    totals: JobTotals
    """Of the whole window and filter."""

    coverage: Coverage


@described
class DisruptionChanges:
    """Disruptions of the last day that are new or changed."""

    disruptions: list[Disruption]
    """At the beginning all of them."""

    gone: list[strawberry.ID]
    """IDs of those that left the last day, or are explained otherwise."""

    renamed: list[Renamed]
    """Those of `gone` that continue under another ID."""

    coverage: Coverage
    """What may be missing from the last day."""
