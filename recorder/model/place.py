"""Places: what a node, a cable or a switch is, written ``kind/name``.

A Node is the first kind. The names of the others are those that their
witnesses write: labels of Nodes, claims, files of a site.
"""

import re
from enum import StrEnum
from typing import Final, NamedTuple, Self

PLACE_NAME_MAX: Final = 253
"""Characters of the name of a place, as of a Node."""

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+/-]*")


class PlaceKind(StrEnum):
    """What kind of place it is."""

    NODE = "node"
    GPU = "gpu"
    """A GPU, by its UUID, or by its node and index."""

    PORT = "port"
    """An end of a cable: ``NODE:DEVICE``, or ``SWITCH:PORT``."""

    SWITCH = "switch"
    LEAFGROUP = "leafgroup"
    """Leaf switches that serve the same nodes, one for each rail."""

    RACK = "rack"
    PDU = "pdu"
    DPU = "dpu"
    DOMAIN = "domain"
    """What any other level of a topology groups: a block, a fabric, an NVLink
    clique, a zone."""


KINDS: Final = frozenset(PlaceKind)


class Place(NamedTuple):
    """A place, by its kind and name."""

    kind: PlaceKind
    name: str

    def __str__(self) -> str:
        """Return the written form."""
        return f"{self.kind}/{self.name}"

    @property
    def is_wide(self) -> bool:
        """Whether several nodes can be behind it."""
        return self.kind not in {PlaceKind.NODE, PlaceKind.PORT, PlaceKind.GPU}

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Return the place that a text names; None if it names none."""
        try:
            return cls.parse(text)
        except ValueError:
            return None

    @classmethod
    def of(cls, kind: str, name: str) -> Self:
        """Return the place of a kind and a name.

        Raises:
            ValueError: there is no such kind, or no place has such a name.
        """
        if kind not in KINDS:
            kinds = ", ".join(PlaceKind)
            msg = f'"{kind[:40]}" is not a kind of place: use one of {kinds}'
            raise ValueError(msg)
        if len(name) > PLACE_NAME_MAX or NAME.fullmatch(name) is None:
            msg = (
                f'"{name[:60]}" is not the name of a place: use at most'
                f" {PLACE_NAME_MAX} letters, digits and the characters"
                ' "._:@+/-", beginning with a letter or digit'
            )
            raise ValueError(msg)
        return cls(PlaceKind(kind), name)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the written form.

        Raises:
            ValueError: it is not a place.
        """
        kind, slash, name = text.partition("/")
        if not slash:
            msg = (
                f'"{text[:60]}" is not a place: write KIND/NAME, for example'
                " switch/leaf-7"
            )
            raise ValueError(msg)
        return cls.of(kind, name)
