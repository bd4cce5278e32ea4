"""Incidents of all nodes, in order of time."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Self

import strawberry

from api.resolvers.types.coverage import Coverage, Hole
from api.resolvers.types.describing import described
from api.resolvers.types.impact import Hit, Totals
from api.resolvers.types.pages import PageInfo
from api.resolvers.types.publishing import publish
from api.resolvers.types.verdicts import Verdict
from api.resolvers.types.words import Facet
from recorder.answers.facets import Facets, in_order
from recorder.answers.incidents import Incident


class _IncidentFields:
    id: strawberry.ID
    totals: Totals

    @strawberry.field
    @staticmethod
    def verdicts(
        incident: strawberry.Parent[Incident],
    ) -> list[Verdict]:
        return [*incident.judged]

    @strawberry.field
    @staticmethod
    def workloads(incident: strawberry.Parent[Incident]) -> list[Hit]:
        """Workloads it affected."""
        return [*incident.hits]


publish(Incident, adds=_IncidentFields, without=["gpu_hours_lost"])


@described
class IncidentEdge:
    """An incident and its place."""

    cursor: str
    """Opaque cursor, valid for this log or this fleet only."""

    node: Incident

    cluster: str
    """Where it was."""


@described
class HistogramStep:
    """How many incidents began in one step."""

    from_: datetime = strawberry.field(name="from")

    to: datetime

    count: int


@described
class Histogram:
    """Incidents per step of time."""

    step_seconds: float

    steps: list[HistogramStep]
    """Steps with at least one incident."""

    gaps: list[Hole]
    """Gaps in the same window."""


@described
class PlaceLabel:
    """A label that shows where a node is, such as its rack."""

    node: str

    key: str

    value: str

    cluster: str


@described
class FacetWord:
    """A word by which incidents can be selected."""

    word: str | None
    """As the command line writes it; null for those without one."""

    count: int


@described
class FacetCounts:
    """How many incidents have each word of a facet."""

    facet: Facet

    words: list[FacetWord]
    """The most frequent first. An incident may have struck several racks and
    namespaces, and has one word of everything else."""

    @classmethod
    def merged(cls, found: Iterable[Facets]) -> list[Self]:
        """Add up the counts of several logs."""
        sums = {facet: Counter[str | None]() for facet in Facet}
        for counted in found:
            for facet, words in counted.items():
                sums[facet].update(dict(words))
        return [
            cls(
                facet=facet,
                words=[
                    FacetWord(word=word, count=count)
                    for word, count in in_order(words)
                ],
            )
            for facet, words in sums.items()
        ]


@described
class IncidentConnection:
    """Incidents in order of time, oldest first."""

    edges: list[IncidentEdge]

    nodes: list[Incident]

    page_info: PageInfo

    histogram: Histogram
    """Of the whole window and filter, for every page."""

    count: int
    """Of the whole window and filter."""

    places: list[PlaceLabel]
    """Where the nodes of these incidents are: rack, zone and others."""

    facets: list[FacetCounts]
    """Counts to narrow by, of the whole window and filter."""

    nearest: "Nearest | None"
    """If the window is empty: the incidents before and after it."""

    coverage: Coverage


@described
class Renamed:
    """An incident or a verdict that continues under another ID."""

    was: strawberry.ID

    now: strawberry.ID

    @classmethod
    def of(cls, renamed: Mapping[str, str]) -> list[Self]:
        """Return IDs, each with the one under which it continues."""
        return [
            cls(was=strawberry.ID(was), now=strawberry.ID(now))
            for was, now in renamed.items()
        ]


@described
class IncidentChanges:
    """Incidents of the last day that are new or changed."""

    incidents: list[Incident]
    """Oldest first; at the beginning all of them."""

    gone: list[strawberry.ID]
    """IDs of incidents that left the last day, or became part of another."""

    renamed: list[Renamed]
    """Those of `gone` that continue under another ID: a stronger effect was
    found, or they became part of another incident."""

    coverage: Coverage
    """What may be missing from the last day."""


@described
class VerdictChanges:
    """Verdicts of the last day that are new or changed."""

    verdicts: list[Verdict]
    """At the beginning all of them."""

    gone: list[strawberry.ID]
    """IDs of verdicts that were removed: they left the last day, or another
    verdict covers what happened."""

    renamed: list[Renamed]
    """Those of `gone` that continue under another ID."""

    coverage: Coverage
    """What may be missing from the last day."""


@described
class Nearest:
    """The incidents nearest to an empty window."""

    before: "Moment | None"

    after: "Moment | None"


@described
class Moment:
    """A signal to navigate to."""

    at: datetime

    node: str

    entry: strawberry.ID

    says: str
