"""Finding nodes and objects of a log by a part of their names.

What is found is what the log holds, also what is long gone: that is what
people ask a log about.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recorder.answers.entry import NoEntryError, ask_entry
from recorder.answers.kinds import BUILT_IN, Kind, find_kinds
from recorder.answers.naming import named
from recorder.answers.node_questions import NodesQuestion
from recorder.answers.nodes import ask_nodes
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
from recorder.model.entry import Entry
from recorder.model.kinds import plural_of
from recorder.model.reference import EntryName, ObjectIdentity

__all__ = [
    "SearchResult",
    "ask_search",
    "complete_labels",
    "complete_nodes",
    "complete_objects",
    "complete_racks",
]

OFFERED_MAX = 200
"""More than anybody looks through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What a search found."""

    nodes: Sequence[str]
    objects: Sequence[ObjectIdentity]
    """Each once, whatever incarnations it had."""

    entry: Entry | None


async def ask_search(
    reading: Reading, text: str, *, limit: int
) -> SearchResult:
    """Find nodes and objects that have a text in their names.

    What begins with it comes first. ``KIND/NAME`` narrows to a kind, and the
    name of an entry finds the entry.
    """
    text = text.strip()
    if not text:
        return SearchResult(nodes=(), objects=(), entry=None)
    kind, _, rest = text.rpartition("/")
    if kind in {"node", "nodes", "no"}:
        nodes = await reading.names(NodesLike(text=rest, limit=limit))
        return SearchResult(nodes=nodes, objects=(), entry=None)
    of_kind = kind.partition("/")[0] or None
    objects = await reading.names(
        ObjectsLike(text=rest, kind=of_kind, limit=limit)
    )
    like = NodesLike(text=text, limit=limit)
    return SearchResult(
        nodes=() if kind else await reading.names(like),
        objects=_each_once(objects),
        entry=await _entry(reading, text),
    )


def _each_once(
    objects: Sequence[ObjectIdentity],
) -> Sequence[ObjectIdentity]:
    """Leave out what is found by the plural of its kind as well."""
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
    """Return the nodes as ``node/NAME`` that go on as begun, in order."""
    names = await reading.names(NodeNames())
    return _going_on(begun, (named("node", "", name) for name in names))


async def complete_racks(reading: Reading, begun: str) -> Sequence[str]:
    """Return the racks that go on as begun, in order."""
    places = (await reading.states(NodePlaces())).values()
    return _going_on(begun, filter(None, map(rack_of, places)))


async def complete_labels(
    reading: Reading, begun: str, *, now: datetime
) -> Sequence[str]:
    """Return labels of nodes that go on as begun, in order.

    Keys at first, which end with ``=``; then the values of the one.
    """
    answer = await ask_nodes(reading, NodesQuestion(), now=now)
    pairs = [pair for node in answer.nodes for pair in node.labels.items()]
    if "=" in begun:
        return _going_on(begun, (f"{key}={value}" for key, value in pairs))
    return _going_on(begun, (f"{key}=" for key, _ in pairs))


async def complete_objects(
    reading: Reading, begun: str, namespace: str | None
) -> Sequence[str]:
    """Return the objects that go on as begun, in order.

    Args:
        reading: of the log.
        begun: ``po``, ``pod/train/ll``; before its slash any word that a
            kind goes by will do, and is kept.
        namespace: if it is given already, objects are named without it, and
            those of others are left out.
    """
    word, slash, _ = begun.partition("/")
    found: list[str] = []
    for kind in await _kinds(reading, word, is_whole=bool(slash)):
        for place, name in await reading.names(ObjectNames(kind.filed)):
            if namespace in {None, place}:
                shown = place if namespace is None else ""
                found.append(named(word if slash else kind, shown, name))
    return _going_on(begun, found)


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


def _going_on(begun: str, names: Iterable[str]) -> Sequence[str]:
    return sorted({n for n in names if n.startswith(begun)})[:OFFERED_MAX]
