"""Incidents: what happened to any node, one after the other."""

from collections import Counter
from collections.abc import Container, Iterable
from datetime import datetime
from typing import Self

import strawberry

from api.describing import described
from api.selecting import EVERYTHING
from api.types.coverage import Coverage, Hole
from api.types.impact import Hit, Totals
from api.types.pages import PageInfo
from api.types.verdicts import Verdict
from api.types.words import Cause, Confidence, Facet, Happened, IncidentGroup
from recorder.explain.verdict import Duration
from recorder.questions import incidents as answered
from recorder.questions.facets import Facets, in_order

__all__ = [
    "FacetCounts",
    "FacetWord",
    "Histogram",
    "HistogramStep",
    "Incident",
    "IncidentChanges",
    "IncidentConnection",
    "IncidentEdge",
    "PlaceLabel",
    "VerdictChanges",
]


@described
class Incident:
    """Verdicts that belong together."""

    id: strawberry.ID
    """The id of its first verdict."""

    happened: Happened

    cause: Cause

    nodes: list[str]

    from_: datetime = strawberry.field(
        name="from", description="Time of its first signal."
    )

    to: datetime | None
    """When the last node was back in service; null until then."""

    duration: Duration | None
    """How long it lasted for the node that its sentence names."""

    group: IncidentGroup

    sentence: str
    """A one-sentence summary."""

    confidence: Confidence

    verdicts: list[Verdict]

    workloads: list[Hit]
    """Workloads it affected."""

    totals: Totals

    @classmethod
    def of(
        cls, incident: answered.Incident, fields: Container[str] = EVERYTHING
    ) -> Self:
        """Take it from an answer, and of its parts those that are wanted."""
        first = incident.first
        verdicts = incident.verdicts if "verdicts" in fields else ()
        hits = incident.workloads if "workloads" in fields else ()
        return cls(
            id=strawberry.ID(first.id),
            happened=first.happened,
            cause=first.cause,
            nodes=list(incident.nodes),
            from_=incident.began_at,
            to=incident.until,
            duration=incident.duration,
            group=IncidentGroup(incident.group),
            sentence=incident.sentence,
            confidence=first.confidence,
            verdicts=[*verdicts],
            workloads=[*hits],
            totals=Totals.of(incident.workloads),
        )


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
    """A label that says where a node stands, such as its rack."""

    node: str

    key: str

    value: str

    cluster: str


@described
class FacetWord:
    """A word by which incidents can be chosen."""

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
        """Add up what was counted in several logs."""
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
    """Of the whole window and filter, whatever the page."""

    count: int
    """Of the whole window and filter."""

    places: list[PlaceLabel]
    """Where the nodes of these incidents stand: rack, zone and the like."""

    facets: list[FacetCounts]
    """Of the whole window and filter, whatever the page: what to narrow by."""

    nearest: "Nearest | None"
    """If the window is empty: the incidents before and after it."""

    coverage: Coverage


@described
class IncidentChanges:
    """Incidents of the last day that are new or judged otherwise."""

    incidents: list[Incident]
    """Oldest first; at the beginning all of them."""

    gone: list[strawberry.ID]
    """Ids of incidents that left the last day, or became part of another."""

    coverage: Coverage
    """What may be missing from the last day."""


@described
class VerdictChanges:
    """Verdicts of the last day that are new or changed."""

    verdicts: list[Verdict]
    """At the beginning all of them."""

    gone: list[strawberry.ID]
    """Ids of verdicts that are no more: they left the last day, or what
    happened is told by another."""

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
