"""Levels: which label of a Node names which place, from a list of keys.

The list is `levels.yaml`. A name that its writer hashed stays hashed in the
log; `hashed` turns the whole name, which another source has, into the same.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, Literal, NamedTuple

import msgspec

from recorder.model.place import Place, PlaceKind

KEYS_MAX: Final = 4096
"""Keys of labels that are remembered; a fleet has fewer."""

NUMBER: Final = re.compile("[0-9]{1,4}")

HASHED_ABOVE: Final = 63
"""Bytes of the longest value of a label."""

FNV_OFFSET: Final = 0xCBF29CE484222325
FNV_PRIME: Final = 0x100000001B3


class Level(NamedTuple):
    """What a key of a label names."""

    kind: PlaceKind
    word: str | None
    distance: tuple[int, int, int]
    """From the node; of one list the smallest is nearest."""

    @property
    def slot(self) -> str:
        """Which of the parents of a node it is.

        Two keys of one slot contradict each other if their values differ.
        """
        tier = sum(self.distance[1:])
        above = f" +{tier}" if self.kind is PlaceKind.SWITCH and tier else ""
        return f"{self.word or self.kind}{above}"

    def place(self, value: str) -> Place | None:
        """Return the place that a value names; None if it is no name."""
        name = value if self.word is None else f"{self.word}:{value}"
        try:
            return Place.of(self.kind, name)
        except ValueError:
            return None


class _Key(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    key: str
    kind: PlaceKind
    word: str | None = None
    leaf: int = 0

    def distance(self, key: str) -> int | None:
        """Return how far above the nearest level it is; None if none."""
        head, star, tail = self.key.partition("*")
        if not star:
            return 0 if key == self.key else None
        if not head:
            return 0 if key.rpartition("/")[2] == tail[1:] else None
        number = key.removeprefix(head)
        if number == key or NUMBER.fullmatch(number) is None:
            return None
        return abs(int(number) - self.leaf)


class _Provider(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    provider: str
    levels: list[_Key]
    hashed: Literal["fnv-64a"] | None = None


@cache
def _providers() -> Sequence[_Provider]:
    # Imported here: most commands ask nothing about places.
    import yaml  # noqa: PLC0415

    file = files("recorder.facts.topology").joinpath("levels.yaml")
    return msgspec.convert(yaml.safe_load(file.read_text()), list[_Provider])


@lru_cache(KEYS_MAX)
def level_of(key: str) -> Level | None:
    """Return what a key of a label names; None if no place."""
    for chain, provider in enumerate(_providers()):
        for index, one in enumerate(provider.levels):
            above = one.distance(key)
            if above is not None:
                return Level(one.kind, one.word, (chain, index, above))
    return None


def places_of(labels: Mapping[str, str]) -> dict[str, Place]:
    """Return the places of a node by the keys of its labels, in order."""
    return {
        key: place
        for key in sorted(labels)
        if (level := level_of(key)) is not None
        and (place := level.place(labels[key])) is not None
    }


def is_among(
    places: Collection[Place], node: str, labels: Mapping[str, str]
) -> bool:
    """Return whether some places have a node, or one that its labels name."""
    if Place(PlaceKind.NODE, node) in places:
        return True
    return any(place in places for place in places_of(labels).values())


def label_of(place: Place) -> str:
    """Return the value that labels have that name a place."""
    return hashed(_worded(place)[2])


def labelled(place: Place) -> Place:
    """Return a place as labels name it, with a long name hashed."""
    word, colon, name = _worded(place)
    return Place(place.kind, f"{word}{colon}{hashed(name)}")


def _worded(place: Place) -> tuple[str, str, str]:
    """Return the word of a domain, its colon, and the name without them."""
    if place.kind is not PlaceKind.DOMAIN:
        return "", "", place.name
    return place.name.partition(":")


def hashed(name: str) -> str:
    """Return a name as Topograph writes it into a label."""
    raw = name.encode()
    if len(raw) <= HASHED_ABOVE:
        return name
    value = FNV_OFFSET
    for byte in raw:
        value = (value ^ byte) * FNV_PRIME % (1 << 64)
    return f"x{value:x}"
