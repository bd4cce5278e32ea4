"""Answers about places: what was behind each, and what was claimed of it.

The topology is folded from the labels of Nodes: those at the beginning of a
window, and their changes in it; and from what claims and the site state. What
several witnesses say of one place at once is shown, with what holds.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec import field
from msgspec.structs import replace

from recorder.answers.loading.places import labels_after, stated
from recorder.answers.moments import covered_at
from recorder.answers.node_questions import NodesQuestion
from recorder.answers.nodes import nodes_at
from recorder.answers.place_questions import PlaceQuestion, PlacesQuestion
from recorder.answers.ports import Reading
from recorder.answers.queries import (
    ALWAYS,
    FactQuery,
    Labels,
    NodeLabels,
    NodesBefore,
    Purpose,
)
from recorder.answers.text.shown import Item, Listing
from recorder.answers.text.table import Column
from recorder.explain.knowledge import Knowledge
from recorder.facts import appearance, says_with_object
from recorder.facts.bearing import wide_place_of
from recorder.facts.classify import CLAIM_GROUP
from recorder.facts.coverage.coverage import Coverage
from recorder.facts.topology import (
    Conflict,
    Sighting,
    Topology,
    label_of,
    labelled,
    sightings_of,
)
from recorder.model.document import Document
from recorder.model.errors import NotFoundError
from recorder.model.fact import StoredFact
from recorder.model.facts import Claimed
from recorder.model.moment import written
from recorder.model.observation import NODES, WATCH
from recorder.model.place import Place, PlaceKind
from recorder.model.reference import EntryName

NODES_MAX = 2_000
"""Nodes whose relations one answer dates; a spine has about as many."""

ENDS_MAX = 100
"""Claims of one place in an answer, first and last ones: a port may flap ten
times a second."""


class PlaceAtTime(Document, frozen=True, kw_only=True):
    """A place, and what was behind it."""

    name: str
    """As `KIND/NAME`."""

    nodes: Sequence[str]
    """The nodes behind it, in order."""


class PlaceConflict(Document, frozen=True, kw_only=True):
    """Two witnesses that place one node differently."""

    node: str

    holds: str
    """The place that the later one names."""

    holds_by: str
    """The later witness, such as the key of a label."""

    other: str
    other_by: str


class PlacesSubject(Document, frozen=True, kw_only=True):
    """Which cluster, and when."""

    cluster: str
    at: datetime | None


class Places(Document, frozen=True, kw_only=True):
    """The places that there were at a time, by name."""

    question: PlacesSubject
    places: Sequence[PlaceAtTime]
    conflicts: Sequence[PlaceConflict]
    coverage: Coverage


class PlaceRelation(Document, frozen=True, kw_only=True):
    """That something was behind the place for a time."""

    child: str

    relation: str
    """`behind`, or `host of`."""

    since: datetime | None = field(name="from")
    """When it was first shown; null if it was so when the window began."""

    until: datetime | None = field(name="to")
    """Null while it holds."""

    witness: str
    """What shows it, such as the key of a label."""

    entry: EntryName | None
    """The entry that shows it; null if it was so before the window."""


class PlaceClaim(Document, frozen=True, kw_only=True):
    """What another system claimed of the place."""

    entry: EntryName
    at: datetime
    type: str
    is_known: bool
    """Whether a type of this name is known; a claim of an unknown type is kept
    and means nothing."""

    source: str
    says: str


class ClaimedMinute(Document, frozen=True, kw_only=True):
    """How often something was claimed in a minute, as of a port that flaps."""

    at: datetime
    """When the minute begins."""

    claims: int


class PlaceFound(Document, frozen=True, kw_only=True):
    """A place in a window: what was behind it, what was claimed of it."""

    name: str
    """As `KIND/NAME`."""

    relations: Sequence[PlaceRelation]
    undated: int
    """How many further nodes were behind it: the answer has the first 2000 by
    name."""

    claims: Sequence[PlaceClaim]
    """In the order of the log. If there are more than 200, the first and the
    last 100."""

    minutes: Sequence[ClaimedMinute]
    """How many of the newest 50,000 claims are of each minute."""

    coverage: Coverage


async def ask_places(
    reading: Reading,
    question: PlacesQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Places:
    """Return the places that there were at a time, with what was behind.

    Raises:
        NotFoundError: nothing was behind a place of the question.
    """
    found = await nodes_at(reading, NodesQuestion(at=question.at), now=now)
    at = found.question.at or now
    topology = Topology(
        [
            *await stated(reading, knowledge),
            *(
                sighting
                for node in found.nodes
                for sighting in sightings_of(node.name, node.labels, at)
            ),
        ]
    )
    wanted = question.names or [
        place
        for place in topology.places
        if place.kind is not PlaceKind.NODE or topology.behind(place, at)
    ]
    places = [_placed(topology, labelled(place), at) for place in wanted]
    missing = next((one.name for one in places if not one.nodes), None)
    if question.names and missing is not None:
        msg = f"nothing was behind {missing} at that time"
        raise NotFoundError(msg, advice="see `recorder get places`")
    return Places(
        question=PlacesSubject(
            cluster=reading.log.cluster_name, at=found.question.at
        ),
        places=places,
        conflicts=[_conflict(one) for one in topology.conflicts(at)],
        coverage=found.coverage,
    )


def _placed(topology: Topology, place: Place, at: datetime) -> PlaceAtTime:
    behind = topology.behind(place, at)
    return PlaceAtTime(
        name=str(place),
        nodes=sorted(p.name for p in behind if p.kind is PlaceKind.NODE),
    )


def _conflict(one: Conflict) -> PlaceConflict:
    return PlaceConflict(
        node=one.holds.child.name,
        holds=str(one.holds.parent),
        holds_by=one.holds.witness,
        other=str(one.other.parent),
        other_by=one.other.witness,
    )


async def ask_place(
    reading: Reading,
    question: PlaceQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> PlaceFound:
    """Return what was behind a place in a window, and claimed of it.

    Raises:
        NotFoundError: the log names no such place.
    """
    place, window = labelled(question.name), question.window
    await reading.reach(window.since, window.until)
    sets = await reading.states(
        NodeLabels(
            value=label_of(place), since=window.since, until=window.until
        )
    )
    begin = window.since or ALWAYS[0]
    seen = [*await stated(reading, knowledge)]
    seen += await _sightings(reading, sorted(sets)[:NODES_MAX], question)
    relations = [
        PlaceRelation(
            child=str(edge.child),
            relation=edge.relation,
            since=None if edge.since <= begin else edge.since,
            until=edge.until,
            witness=edge.witness,
            entry=edge.entry,
        )
        for edge in Topology(seen).edges(place)
        if edge.parent == place
        and edge.since < (window.until or ALWAYS[1])
        and (edge.until is None or edge.until > begin)
    ]
    claims = await _claims(reading, place, question)
    if not relations and not claims:
        msg = f"{reading.log.named} names no {place} in that time"
        raise NotFoundError(msg, advice="see `recorder get places`")
    return PlaceFound(
        name=str(place),
        relations=relations,
        undated=max(0, len(sets) - NODES_MAX),
        claims=[
            _claim(one, knowledge)
            for one in [*claims[:ENDS_MAX], *claims[ENDS_MAX:][-ENDS_MAX:]]
        ],
        minutes=_minutes(claims),
        coverage=await covered_at(
            reading,
            window.until,
            now=now,
            reads=lambda source, name: (source, name) == (WATCH, NODES),
        ),
    )


async def _sightings(
    reading: Reading, nodes: Sequence[str], question: PlaceQuestion
) -> Sequence[Sighting]:
    """Return what labels of nodes showed when the window began, and in it."""
    window, found = question.window, list[Sighting]()
    labels: dict[str, Labels] = {}
    if window.since is not None:
        before = await reading.states(
            NodesBefore(names=nodes, at=window.since)
        )
        for name, version in before.items():
            shown = appearance(version.raw, version.resource)
            if shown is not None and not version.gone:
                labels[name] = shown.state.labels
                found += sightings_of(name, labels[name], window.since)
    facts = await reading.facts(
        FactQuery(
            purpose=Purpose.EVIDENCE,
            nodes=nodes,
            since=window.since,
            until=window.until,
        )
    )
    for stored in facts:
        found += _changes(stored, labels)
    return found


def _changes(
    stored: StoredFact, labels: dict[str, Labels]
) -> Iterator[Sighting]:
    """Yield what a fact about a Node shows, and take it into its labels."""
    fact = stored.fact
    if fact.object is None or fact.object.kind != "Node" or not fact.node:
        return
    before = labels.get(fact.node, {})
    after = labels_after(fact.detail, before)
    if after is before:
        return
    labels[fact.node] = after
    yield from sightings_of(
        fact.node, after, stored.at, before=before, entry=stored.entry
    )


async def _claims(
    reading: Reading, place: Place, question: PlaceQuestion
) -> Sequence[StoredFact]:
    """Return what was claimed of a place; of a narrow one by its name."""
    window, named = question.window, (CLAIM_GROUP, "", str(question.name))
    facts = await reading.facts(
        FactQuery(
            purpose=Purpose.LOSSES if place.is_wide else Purpose.REQUESTS,
            objects=[named],
            since=window.since,
            until=window.until,
        )
    )
    if not place.is_wide:
        # An audit log may name such an object too.
        return [one for one in facts if isinstance(one.fact.detail, Claimed)]
    return [
        stored
        for stored in facts
        if (about := wide_place_of(stored.fact)) is not None
        and labelled(about) == place
    ]


def _minutes(claims: Sequence[StoredFact]) -> Sequence[ClaimedMinute]:
    counts = Counter(one.at.replace(second=0, microsecond=0) for one in claims)
    return [
        ClaimedMinute(at=at, claims=count)
        for at, count in sorted(counts.items())
    ]


def _claim(stored: StoredFact, knowledge: Knowledge) -> PlaceClaim:
    claim = stored.fact.detail
    assert isinstance(claim, Claimed), "nothing else is kept"
    return PlaceClaim(
        entry=stored.entry,
        at=stored.at,
        type=claim.type,
        is_known=claim.type in knowledge.types,
        source=claim.source,
        says=says_with_object(stored.fact),
    )


COLUMNS = (
    Column("PLACE"),
    Column("NODES"),
    Column("BEHIND", rank=1),
)
NAMES_SHOWN = 8


def shown_places(
    answer: Places, question: PlacesQuestion, *, verbose: bool
) -> Listing:
    """Return an answer as `recorder get places` prints it."""
    del verbose
    at = answer.question.at
    return Listing(
        columns=COLUMNS,
        items=[
            Item(one.name, (one.name, len(one.nodes), _names(one.nodes)), one)
            for one in answer.places
        ],
        whole=lambda places: replace(answer, places=places),
        nothing="no node named a place at that time",
        text_notes=[
            *(
                f"{one.node} is at {one.holds} by {one.holds_by}, and at"
                f" {one.other} by {one.other_by}"
                for one in answer.conflicts
            ),
            *(
                [f"as of {written(at)}, the end of the record"]
                if question.at is None and at is not None
                else []
            ),
        ],
    )


def _names(nodes: Sequence[str]) -> str:
    more = len(nodes) - NAMES_SHOWN
    return ", ".join(
        [*nodes[:NAMES_SHOWN], *([f"{more} more"] if more > 0 else [])]
    )
