"""The names in a batch, and the numbers that the log has for them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from recorder.model.reference import ObjectIdentity


@dataclass(slots=True)
class Names:
    """Names to find or create in the dimension tables."""

    nodes: set[str] = field(default_factory=set)
    objects: dict[ObjectIdentity, None] = field(default_factory=dict)
    """A set in the order of the log, in which numbers are assigned."""

    resources: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)

    def add(self, table: str, found: Iterable[Any]) -> None:
        """Add names, or None, of a table: node, object, resource or word."""
        known = getattr(self, f"{table}s")
        if table == "object":
            known.update(dict.fromkeys(found))
            known.pop(None, None)
        else:
            known.update(found)
            known.discard(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The numbers of the names of one batch."""

    nodes: Mapping[str, int]
    objects: Mapping[ObjectIdentity, int]
    resources: Mapping[str, int]
    words: Mapping[str, int]

    def of(self, table: str) -> Mapping[Any, int]:
        """Return the numbers of a table: node, object, resource or word."""
        found: Mapping[Any, int] = getattr(self, f"{table}s")
        return found
