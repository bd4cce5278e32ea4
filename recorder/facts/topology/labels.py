"""Sightings of places by the labels of Nodes."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from recorder.facts.topology.fold import Relation, Sighting
from recorder.facts.topology.levels import level_of, places_of
from recorder.model.place import Place, PlaceKind
from recorder.model.reference import EntryName

HOSTS: Final = ("provisioning.dpu.nvidia.com/dpunode-name",)
"""Keys of labels of the Node of a DPU that name the host that it is built
into, whose Node is in another cluster."""

NONE: Final[Mapping[str, str]] = {}


def sightings_of(
    node: str,
    labels: Mapping[str, str],
    at: datetime,
    *,
    before: Mapping[str, str] = NONE,
    entry: EntryName | None = None,
) -> Iterator[Sighting]:
    """Yield what the labels of a Node show, and what they no longer do.

    A node is behind each place that a label names. That its leaf is behind
    its spine is not concluded: two nodes may disagree about it, and what is
    behind the spine does not depend on it.

    Args:
        node: its name.
        labels: after the change.
        at: when they were so.
        before: labels before the change; none of a Node that appeared.
        entry: the entry that proves it.
    """
    child = Place(PlaceKind.NODE, node)
    now = places_of(labels)
    for key in sorted({*now, *places_of(before)}):
        level = level_of(key)
        assert level is not None, "it names a place"
        yield Sighting(
            at, child, Relation.BEHIND, level.slot, now.get(key), key, entry
        )
    for key in HOSTS:
        if key in labels or key in before:
            yield Sighting(
                at, child, Relation.HOST_OF, "host", _node(labels.get(key)),
                key, entry,
            )  # fmt: skip


def _node(name: str | None) -> Place | None:
    try:
        return None if name is None else Place.of(PlaceKind.NODE, name)
    except ValueError:
        return None
