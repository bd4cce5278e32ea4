"""Finding by a part of a name: nodes and objects of a log."""

from collections.abc import Sequence
from dataclasses import dataclass

from recorder.model.kinds import plural_of
from recorder.model.reference import EntryName, ObjectIdentity
from recorder.report.ports import Line, Reading
from recorder.report.single import NoEntryError, ask_entry

__all__ = ["Found", "ask_search"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found."""

    nodes: Sequence[str]
    objects: Sequence[ObjectIdentity]
    """Each once, whatever incarnations it had."""

    entry: Line | None


async def ask_search(reading: Reading, text: str, *, limit: int) -> Found:
    """Find nodes and objects that have a text in their names.

    What begins with it comes first. ``KIND/NAME`` narrows to a kind, and the
    name of an entry finds the entry.
    """
    text = text.strip()
    if not text:
        return Found(nodes=(), objects=(), entry=None)
    kind, _, rest = text.rpartition("/")
    if kind in {"node", "nodes", "no"}:
        nodes = await reading.nodes_like(rest, limit=limit)
        return Found(nodes=nodes, objects=(), entry=None)
    objects = await reading.things_like(
        rest, kind=kind.partition("/")[0] or None, limit=limit
    )
    return Found(
        nodes=() if kind else await reading.nodes_like(text, limit=limit),
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


async def _entry(reading: Reading, text: str) -> Line | None:
    try:
        return await ask_entry(reading, EntryName.parse(text))
    except (NoEntryError, ValueError):
        return None
