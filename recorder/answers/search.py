"""Finding nodes and objects of a log by a part of their names.

Objects that were deleted are found too.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum

from msgspec.structs import replace

from recorder.answers.clusters import Away
from recorder.answers.entry import NoEntryError, ask_entry
from recorder.answers.kinds import BUILT_IN, Kind, find_kinds
from recorder.answers.log_questions import SearchQuestion
from recorder.answers.naming import NODE_WORDS, named
from recorder.answers.node_questions import NodesQuestion
from recorder.answers.nodes import nodes_at
from recorder.answers.places import rack_of
from recorder.answers.ports import Reading
from recorder.answers.queries import (
    CustomKinds,
    Kinds,
    NodeNames,
    NodePlaces,
    NodesLike,
    ObjectNames,
    ObjectsLike,
)
from recorder.answers.references import object_named
from recorder.answers.text.shown import Item, Listing
from recorder.answers.text.table import Cell, Column
from recorder.facts.coverage.coverage import Coverage, covered
from recorder.facts.coverage.ports import Log
from recorder.facts.topology import places_of
from recorder.model.document import Document
from recorder.model.entry import Entry
from recorder.model.kinds import plural_of
from recorder.model.reference import EntryName, ObjectIdentity, written_log
from recorder.model.window import Window

OFFERED_MAX = 200
"""Names offered for completion; more would not be read."""


class SearchKind(StrEnum):
    """What was found."""

    NODE = "node"
    OBJECT = "object"
    ENTRY = "entry"


class SearchHit(Document, frozen=True, kw_only=True):
    """One thing that a search found."""

    kind: SearchKind
    title: str
    """Display name: `gpu-002`, `pod/train/llm-0`, `1/48213`."""

    node: str | None
    """The node, or the one that an entry concerns."""

    object: ObjectIdentity | None
    entry: EntryName | None


class SearchAnswer(Document, frozen=True, kw_only=True):
    """What a search found, nodes first."""

    hits: Sequence[SearchHit]
    more: bool
    """Whether there are more than requested."""

    coverage: Coverage
    """Of the whole log."""


async def ask_search(
    reading: Reading, question: SearchQuestion, *, now: datetime
) -> SearchAnswer:
    """Find nodes and objects whose names contain a text.

    Names that begin with it are first. ``KIND/NAME`` restricts to a kind, and
    the name of an entry finds the entry.
    """
    limit = question.limit
    hits = await _hits(reading, question.text.strip(), limit + 1)
    return SearchAnswer(
        hits=hits[:limit],
        more=len(hits) > limit,
        coverage=await covered(reading, Window(), now=now),
    )


async def _hits(reading: Reading, text: str, limit: int) -> list[SearchHit]:
    if not text:
        return []
    kind, _, rest = text.rpartition("/")
    if kind in NODE_WORDS:
        nodes = await reading.names(NodesLike(text=rest, limit=limit))
        return list(map(_node_hit, nodes))
    of_kind = kind.partition("/")[0] or None
    objects = await reading.names(
        ObjectsLike(text=rest, kind=of_kind, limit=limit)
    )
    like = NodesLike(text=text, limit=limit)
    nodes = () if kind else await reading.names(like)
    entry = await _entry(reading, text)
    return [
        *([] if entry is None else [_entry_hit(entry)]),
        *map(_node_hit, nodes),
        *map(_object_hit, _each_once(objects)),
    ]


def _entry_hit(found: Entry) -> SearchHit:
    return SearchHit(
        kind=SearchKind.ENTRY,
        title=str(found.entry),
        node=found.node,
        object=found.identity,
        entry=found.entry,
    )


def _node_hit(name: str) -> SearchHit:
    return SearchHit(
        kind=SearchKind.NODE, title=name, node=name, object=None, entry=None
    )


def _object_hit(identity: ObjectIdentity) -> SearchHit:
    return SearchHit(
        kind=SearchKind.OBJECT,
        title=object_named(identity),
        node=None,
        object=identity,
        entry=None,
    )


def _each_once(
    objects: Sequence[ObjectIdentity],
) -> Sequence[ObjectIdentity]:
    """Return objects without duplicates under the plural of their kind."""
    found: dict[tuple[str, ...], ObjectIdentity] = {}
    places: dict[str, tuple[str, ...]] = {}
    for one in objects:
        place: tuple[str, ...] = (
            one.group,
            plural_of(one.kind),
            one.namespace,
            one.name,
        )
        if one.uid is not None:
            place = places.setdefault(one.uid, place)
        known = found.setdefault(place, one)
        if known.kind == plural_of(known.kind):
            found[place] = one
    return list(found.values())


async def _entry(reading: Reading, text: str) -> Entry | None:
    try:
        return await ask_entry(reading, EntryName.parse(text))
    except (NoEntryError, ValueError):
        return None


async def complete_nodes(reading: Reading, begun: str) -> Sequence[str]:
    """Return nodes as ``node/NAME`` that begin with a text, in order."""
    names = await reading.names(NodeNames())
    return _beginning_with(begun, (named("node", "", name) for name in names))


async def complete_racks(reading: Reading, begun: str) -> Sequence[str]:
    """Return racks that begin with a text, in order."""
    places = (await reading.states(NodePlaces())).values()
    return _beginning_with(begun, filter(None, map(rack_of, places)))


async def complete_places(reading: Reading, begun: str) -> Sequence[str]:
    """Return places of nodes, ``KIND/NAME``, that begin with a text."""
    found = (await reading.states(NodePlaces())).values()
    places = (str(p) for labels in found for p in places_of(labels).values())
    return _beginning_with(begun, places)


async def complete_labels(
    reading: Reading, begun: str, *, now: datetime
) -> Sequence[str]:
    """Return labels of nodes that begin with a text, in order.

    Keys with ``=`` at first; then values of the key.
    """
    answer = await nodes_at(reading, NodesQuestion(), now=now)
    pairs = [pair for node in answer.nodes for pair in node.labels.items()]
    if "=" in begun:
        return _beginning_with(
            begun, (f"{key}={value}" for key, value in pairs)
        )
    return _beginning_with(begun, (f"{key}=" for key, _ in pairs))


async def complete_objects(
    reading: Reading, begun: str, namespace: str | None
) -> Sequence[str]:
    """Return objects that begin with a text, in order.

    Args:
        reading: the log.
        begun: ``po``, ``pod/train/ll``; any name of a kind before the slash
            is valid, and is kept.
        namespace: if set, only objects in it, named without it.
    """
    word, slash, _ = begun.partition("/")
    found: list[str] = []
    for kind in await _kinds(reading, word, is_whole=bool(slash)):
        for place, name in await reading.names(ObjectNames(kind.filed)):
            if namespace in {None, place}:
                shown = place if namespace is None else ""
                found.append(named(word if slash else kind, shown, name))
    return _beginning_with(begun, found)


async def _kinds(
    reading: Reading, word: str, *, is_whole: bool
) -> Sequence[Kind]:
    filed = await reading.names(Kinds())
    if is_whole:
        custom = await reading.names(CustomKinds())
        return find_kinds(word, custom=custom, filed=filed)
    return [
        kind
        for kind in BUILT_IN
        if kind.kind.lower().startswith(word.lower())
        and any(one in filed for one in kind.filed)
    ]


def _beginning_with(begun: str, names: Iterable[str]) -> Sequence[str]:
    return sorted({n for n in names if n.startswith(begun)})[:OFFERED_MAX]


COLUMNS = (
    Column("NAME"),
    Column("KIND", rank=1),
    Column("NODE", rank=2),
    Column("UID", wide=True),
)


def _cells(hit: SearchHit) -> Sequence[Cell]:
    """Return what was found as a row of the table."""
    of = hit.object
    if hit.kind is SearchKind.OBJECT and of is not None:
        kind = f"{of.kind}.{of.group}" if of.group else of.kind
    else:
        kind = hit.kind.value.capitalize()
    uid = None if of is None else of.uid
    return hit.title, kind, hit.node, uid


def _named(hit: SearchHit) -> str:
    """Return the name of what was found, as other commands take it."""
    is_node = hit.kind is SearchKind.NODE
    return named("node", "", hit.title) if is_node else hit.title


def _more(answers: Iterable[SearchAnswer]) -> Sequence[str]:
    left = any(answer.more for answer in answers)
    return ["there are more: search for more of the name"] if left else []


NOTHING = "nothing recorded has this in its name"


def shown(
    answer: SearchAnswer, question: SearchQuestion, *, verbose: bool
) -> Listing:
    """Return an answer as `recorder search` prints it."""
    del question, verbose
    return Listing(
        columns=COLUMNS,
        items=[Item(_named(one), _cells(one), one) for one in answer.hits],
        whole=lambda hits: replace(answer, hits=hits),
        nothing=NOTHING,
        text_notes=_more([answer]),
    )


def shown_each(
    answers: Sequence[tuple[Log, SearchAnswer]],
    question: SearchQuestion,
    away: Sequence[Away],
    *,
    verbose: bool,
) -> Listing:
    """Return the answers of several logs as one list."""
    del question, verbose
    return Listing(
        columns=(Column("CLUSTER"), *COLUMNS),
        items=[
            Item(_named(one), (log.cluster_name, *_cells(one)), one)
            for log, answer in answers
            for one in answer.hits
        ],
        whole=lambda _: {
            "clusters": [
                {
                    "cluster": log.cluster_name,
                    "log": written_log(log.id),
                    "hits": answer.hits,
                    "more": answer.more,
                    "coverage": answer.coverage,
                }
                for log, answer in answers
            ],
            "away": [{"cluster": one.cluster, "why": one.why} for one in away],
        },
        nothing=NOTHING,
        text_notes=_more(answer for _, answer in answers),
    )
