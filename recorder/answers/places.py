"""Places of nodes, by their labels.

Nodes that fail together share a rack or, if no label names it, a switch or a
block. A zone is too wide for one failure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from recorder.facts.topology import is_among, label_of, labelled
from recorder.model.errors import ConfigError
from recorder.model.place import Place, PlaceKind
from recorder.model.state import TOPOLOGY

NARROW = tuple(end for end in TOPOLOGY if end != "zone")
"""Last parts of label keys that name a rack, the narrowest first."""


def names_rack(key: str) -> bool:
    """Return whether labels with this key name a rack, switch or block."""
    return key.rpartition("/")[2] in NARROW


def rack_of(labels: Mapping[str, str]) -> str | None:
    """Return the narrowest place in the labels of a node, if any."""
    named = filter(names_rack, sorted(labels))
    narrowest = min(
        named,
        key=lambda key: NARROW.index(key.rpartition("/")[2]),
        default=None,
    )
    return None if narrowest is None else labels[narrowest]


def label_pair(text: str) -> tuple[str, str]:
    """Read ``LABEL=VALUE``.

    Raises:
        ConfigError: it is malformed.
    """
    key, equals, value = text.partition("=")
    if not equals or not key or key[-1] == "!" or value[:1] == "=":
        msg = f'cannot use the label "{text}": write LABEL=VALUE'
        raise ConfigError(msg, code="question.selector")
    return key, value


@dataclass(frozen=True, slots=True)
class Labels:
    """A selector of nodes by labels; empty selects all."""

    rack: str | None = None
    pairs: tuple[tuple[str, str], ...] = ()
    place: Place | None = None
    behind: frozenset[Place] = frozenset()
    """What claims and the site say was behind the place."""

    @classmethod
    def of(
        cls, rack: str | None, place: Place | None, pairs: Iterable[str]
    ) -> Self:
        """Parse ``LABEL=VALUE`` pairs.

        Raises:
            ConfigError: one is malformed.
        """
        return cls(
            rack or None, tuple(label_pair(text) for text in pairs), place
        )

    def fit(self, labels: Mapping[str, str], node: str = "") -> bool:
        """Return whether the selector matches a node with these labels."""
        in_rack = self.rack is None or any(
            value == self.rack and names_rack(key)
            for key, value in labels.items()
        )
        return (
            in_rack
            and self._is_behind(labels, node)
            and all(labels.get(key) == value for key, value in self.pairs)
        )

    def _is_behind(self, labels: Mapping[str, str], node: str) -> bool:
        if self.place is None:
            return True
        return is_among(self.behind | {labelled(self.place)}, node, labels)

    @property
    def shared(self) -> Sequence[tuple[str | None, str]]:
        """Keys and values of labels: each selected node had one of them.

        A key is None where several keys may name the place. Nodes that only
        `behind` names need none of them.
        """
        if self.pairs:
            return self.pairs[:1]
        if self.rack is not None:
            return [(None, self.rack)]
        places = self.behind | ({self.place} if self.place else set())
        return [
            (None, value)
            for value in sorted(
                {
                    label_of(place)
                    for place in places
                    if place.kind is not PlaceKind.NODE
                }
            )
        ]

    @property
    def named(self) -> Sequence[str]:
        """The nodes that `behind` names, if nothing else is asked of them."""
        if self.pairs or self.rack is not None:
            return ()
        return sorted(
            place.name for place in self.behind if place.kind is PlaceKind.NODE
        )
