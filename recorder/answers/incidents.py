"""Answers of `recorder incidents`: what happened to all nodes."""

from collections.abc import (
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from datetime import datetime, timedelta
from typing import Self

from msgspec import field
from msgspec.structs import replace

from recorder.answers.beginning import reach_begun
from recorder.answers.clusters import Away
from recorder.answers.loading.fleet import LOOKBACK
from recorder.answers.loading.hits import hits_of
from recorder.answers.loading.nodes import (
    hiding,
    nodes_of,
    reads_nodes,
    verdicts_of,
)
from recorder.answers.loading.places import Whereabouts, whereabouts_of
from recorder.answers.node_questions import IncidentFilter, IncidentsQuestion
from recorder.answers.ports import Reading
from recorder.answers.queries import ActiveNodes, NodePlaces
from recorder.answers.text.shown import Item, Listing
from recorder.answers.text.table import CONFIDENCES, Cell, Column, Kind
from recorder.explain.breadth import is_wide
from recorder.explain.hit import Hit, Totals
from recorder.explain.knowledge import Knowledge
from recorder.explain.verdict import Duration, Verdict
from recorder.facts.coverage.account import read_account
from recorder.facts.coverage.coverage import Coverage, cover
from recorder.facts.coverage.ports import Log
from recorder.facts.topology import Topology
from recorder.model.document import Document
from recorder.model.moment import shifted
from recorder.model.observation import NODES, PODS
from recorder.model.outcomes import (
    Cause,
    Confidence,
    Fault,
    Happened,
    IncidentGroup,
)
from recorder.model.reference import EntryName, written_log
from recorder.model.window import Window

GROUPS = {
    Fault.CONTROL_PLANE.value: IncidentGroup.CONTROL_PLANE,
    Fault.POWER_LOSS.value: IncidentGroup.RACK,
    Fault.PARTITION.value: IncidentGroup.RACK,
}
"""Causes that affect several nodes at once."""

WIDE = "zone"
"""The end of label keys of places that do not share one network."""

Places = Mapping[str, Mapping[str, str]]
"""Labels of nodes that name a place, by node."""

TOGETHER = timedelta(minutes=1)
"""At most this between losses of nodes by one cause."""


class Incident(Document, frozen=True, kw_only=True):
    """Verdicts that belong together."""

    id: str
    """The id of its first verdict."""

    happened: Happened
    cause: Cause
    nodes: Sequence[str]
    since: datetime = field(name="from")
    """Time of its first signal."""

    until: datetime | None = field(name="to")
    """When the last node was back in service; null until then."""

    duration: Duration | None
    """How long it lasted for the node that its sentence names."""

    group: IncidentGroup
    sentence: str
    """A one-sentence summary."""

    confidence: Confidence
    verdicts: Sequence[str]
    workloads: int
    gpu_hours_lost: float
    judged: Sequence[Verdict] = field(name="_judged")
    hits: Sequence[Hit] = field(name="_hits")
    totals: Totals = field(name="_totals")

    @classmethod
    def of(cls, judged: Sequence[Verdict], hits: Sequence[Hit]) -> Self:
        """Return the incident of verdicts in log order, named by the first."""
        first, totals = judged[0], Totals.of(hits)
        nodes = sorted({verdict.node for verdict in judged})
        ends = [verdict.over_at for verdict in judged]
        alone = len(judged) == 1
        return cls(
            id=first.id,
            happened=first.happened,
            cause=first.cause,
            nodes=nodes,
            since=min(verdict.began_at for verdict in judged),
            until=max(filter(None, ends)) if all(ends) else None,
            duration=first.duration,
            group=IncidentGroup.NODE
            if alone
            else GROUPS.get(first.cause, IncidentGroup.NODE),
            sentence=first.sentence
            if alone
            else f"{len(nodes)} nodes together: {first.sentence}",
            confidence=first.confidence,
            verdicts=[verdict.id for verdict in judged],
            workloads=totals.workloads,
            gpu_hours_lost=totals.gpu_hours_attributed,
            judged=judged,
            hits=hits,
            totals=totals,
        )

    @property
    def first(self) -> Verdict:
        """The verdict that names it."""
        return self.judged[0]

    @property
    def namespaces(self) -> Sequence[str]:
        """The namespaces of the affected workloads, in order."""
        return sorted({hit.namespace for hit in self.hits})

    @property
    def controller(self) -> str | None:
        """The program that carried out the decision, if any."""
        return controller_of(self.first)

    def racks(self, places: Whereabouts) -> Sequence[str]:
        """Return the racks that its nodes were in, in order."""
        found = {places.rack(node, self.since) for node in self.nodes}
        return sorted(rack for rack in found if rack is not None)

    @property
    def place(self) -> tuple[datetime, int]:
        """The sort key in a list: time of its first signal, then position."""
        return self.since, self.first.effect.stored.entry.position


def _any_of(
    words: Sequence[str], wanted: Collection[str | None] | None
) -> bool:
    return wanted is None or any(w in wanted for w in words or (None,))


def controller_of(verdict: Verdict) -> str | None:
    """Return the program that carried out a decision, or made it."""
    decided = verdict.decision
    if decided is None:
        return None
    for actor in (decided.carried_out_by, decided.actor):
        if actor is not None and actor.is_program:
            return actor.name
    return None


class Incidents(Document, frozen=True, kw_only=True):
    """What happened to any node, oldest first."""

    incidents: Sequence[Incident]
    coverage: Coverage


async def ask_incidents(
    reading: Reading,
    question: IncidentsQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Incidents:
    """Find the incidents of all nodes in a window."""
    window = question.window
    await reading.reach(window.since, window.until)
    found = await _incidents(reading, window, knowledge, now=now)
    verdicts = [v for one in found.incidents for v in one.judged]
    if await reach_begun(reading, window, verdicts):
        found = await _incidents(reading, window, knowledge, now=now)
    wanted = question.wanted
    is_placed = wanted.racks is not None or wanted.place is not None
    places = await whereabouts(
        reading, found.incidents if is_placed else (), knowledge
    )
    chosen = [one for one in found.incidents if is_wanted(wanted, one, places)]
    return replace(found, incidents=chosen)


async def _incidents(
    reading: Reading, window: Window, knowledge: Knowledge, *, now: datetime
) -> Incidents:
    account = await read_account(
        reading,
        window,
        now=now,
        reads=reads_nodes,
        facts=True,
        needs=(NODES, PODS),
    )
    since = window.since and shifted(window.since, -LOOKBACK)
    active = ActiveNodes(
        since=since, until=window.until, observed_since=window.since
    )
    names = sorted(await reading.names(active))
    nodes = await nodes_of(
        reading, names, since=since, until=window.until, knowledge=knowledge
    )
    judged = await verdicts_of(
        reading, nodes, window, account, knowledge, everywhere=True
    )
    verdicts = [v for v in judged if not _is_of_work(v)]
    struck = sorted({verdict.node for verdict in verdicts})
    found = (
        await hits_of(reading, struck, verdicts, window, account=account)
        if struck
        else []
    )
    incidents = [
        Incident.of(group, _of(group, found))
        for group in _together(verdicts, await _cut_off(reading, verdicts))
    ]
    incidents.sort(key=lambda one: one.place)
    times = [
        at
        for one in incidents
        for at in (one.since, *(hit.hit_at for hit in one.hits))
    ]
    return Incidents(
        incidents=incidents,
        coverage=cover(account, times=times, hiding=hiding(judged)),
    )


def is_wanted(
    wanted: IncidentFilter, incident: Incident, places: Whereabouts
) -> bool:
    """Return whether a filter selects an incident.

    ``places`` has its nodes, if the filter selects by place.
    """
    first, name = incident.first, wanted.workload
    hits = incident.hits
    return (
        (wanted.happened is None or first.happened in wanted.happened)
        and (wanted.causes is None or first.cause in wanted.causes)
        and (
            wanted.confidence is None or first.confidence in wanted.confidence
        )
        and (wanted.node is None or wanted.node in incident.nodes)
        and (name is None or any(name in str(h.workload) for h in hits))
        and _any_of(incident.namespaces, wanted.namespaces)
        and (
            wanted.controllers is None
            or incident.controller in wanted.controllers
        )
        and (
            wanted.racks is None
            or _any_of(incident.racks(places), wanted.racks)
        )
        and (
            wanted.place is None
            or places.has_one_behind(
                wanted.place, incident.nodes, incident.since
            )
        )
    )


async def whereabouts(
    reading: Reading,
    incidents: Collection[Incident],
    knowledge: Knowledge,
) -> Whereabouts:
    """Return where the nodes of incidents were."""
    if not incidents:
        return Whereabouts((), Topology())
    names = {name for one in incidents for name in one.nodes}
    return await whereabouts_of(reading, names, knowledge)


def _is_of_work(verdict: Verdict) -> bool:
    """Return whether a container reached its own memory limit.

    Then nothing happened to its node.
    """
    return verdict.cause == Fault.CONTAINER_OOM.value


async def _cut_off(reading: Reading, verdicts: Iterable[Verdict]) -> Places:
    """Return the places of nodes that lost the network."""
    names = {v.node for v in verdicts if v.cause == Fault.PARTITION.value}
    return await reading.states(NodePlaces(names)) if len(names) > 1 else {}


def _together(
    verdicts: Iterable[Verdict], places: Places
) -> list[Sequence[Verdict]]:
    """Group verdicts whose cause affected several nodes, in order of time.

    What one fault of a place did is one incident.
    """
    groups: list[list[Verdict]] = []
    for verdict in sorted(verdicts, key=_order):
        for group in groups:
            if _is_one(group[0], verdict, places):
                group.append(verdict)
                break
        else:
            groups.append([verdict])
    return [tuple(group) for group in groups]


def _is_one(first: Verdict, other: Verdict, places: Places) -> bool:
    """Return whether two nodes were affected by one cause.

    Those that lost the network were only if they share a place.
    """
    if first.happened != other.happened or first.cause != other.cause:
        return False
    at_fault = _place_at_fault(first)
    if at_fault is not None and at_fault == _place_at_fault(other):
        return True
    return (
        other.cause in GROUPS
        and abs(first.lost_at - other.lost_at) <= TOGETHER
        and (
            other.cause != Fault.PARTITION.value
            or _share_place(first.node, other.node, places)
        )
    )


def _place_at_fault(verdict: Verdict) -> EntryName | None:
    """Return the record of the fault of a place that explains a verdict."""
    fault = verdict.fault
    if fault is None or not is_wide(fault.sign):
        return None
    return fault.sign.stored.entry


def _share_place(node: str, other: str, places: Places) -> bool:
    there = places.get(other, {})
    return any(
        there.get(key) == value and key.rpartition("/")[2] != WIDE
        for key, value in places.get(node, {}).items()
    )


def _order(verdict: Verdict) -> tuple[datetime, str]:
    return verdict.at, verdict.node


def _of(group: Sequence[Verdict], found: Sequence[Hit]) -> list[Hit]:
    """Return the workloads that verdicts affected, with their charges."""
    own = {verdict.id for verdict in group}
    return [
        hit.charged(verdicts=own)
        for hit in found
        if any(charge.verdict in own for charge in hit.charges)
        or (hit.outcome == "survived" and own & {*hit.evidence})
    ]


COLUMNS = (
    Column("FROM", Kind.TIME),
    Column("AGE", Kind.AGE, rank=3),
    Column("TO", Kind.TIME, wide=True),
    Column("ID", wide=True),
    Column("NODES"),
    Column("HAPPENED"),
    Column("CAUSE", rank=1),
    Column("CONFIDENCE", rank=2, colours=CONFIDENCES),
    Column("GROUP", wide=True),
    Column("WORKLOADS", rank=5),
    Column("GPU-HOURS", rank=4),
    Column("SUMMARY"),
)

NODES_SHOWN = 3


def incident_cells(shown: Incident) -> Sequence[Cell]:
    """Return an incident as a row of the table."""
    nodes = shown.nodes
    more = len(nodes) - NODES_SHOWN
    rest = f" and {more} more" if more > 0 else ""
    return (
        shown.since,
        shown.since,
        shown.until,
        shown.id,
        ",".join(nodes[:NODES_SHOWN]) + rest,
        shown.happened,
        shown.cause,
        shown.confidence,
        shown.group,
        shown.workloads,
        shown.gpu_hours_lost,
        shown.sentence,
    )


def shown(
    answer: Incidents, question: IncidentsQuestion, *, verbose: bool
) -> Listing:
    """Return an answer as `recorder incidents` prints it."""
    del question, verbose
    return Listing(
        columns=COLUMNS,
        items=[
            Item(one.id, incident_cells(one), one) for one in answer.incidents
        ],
        whole=lambda incidents: replace(answer, incidents=incidents),
        nothing="no incidents recorded",
    )


def shown_each(
    answers: Sequence[tuple[Log, Incidents]],
    question: IncidentsQuestion,
    away: Sequence[Away],
    *,
    verbose: bool,
) -> Listing:
    """Return the answers of several logs as one list."""
    del question, verbose
    clusters = [
        {
            "cluster": log.cluster_name,
            "log": written_log(log.id),
            "coverage": answer.coverage,
        }
        for log, answer in answers
    ]
    return Listing(
        columns=(Column("CLUSTER"), *COLUMNS),
        items=[
            Item(one.id, (log.cluster_name, *incident_cells(one)), one)
            for log, answer in answers
            for one in answer.incidents
        ],
        whole=lambda incidents: {
            "incidents": incidents,
            "clusters": clusters,
            "away": [{"cluster": one.cluster, "why": one.why} for one in away],
        },
        nothing="no incidents recorded",
    )
