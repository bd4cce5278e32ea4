"""Names that a batch has, and the numbers that the log has for them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from recorder.model.reference import ObjectIdentity

__all__ = ["Names", "Numbers"]


@dataclass(slots=True)
class Names:
    """What is to be found or made in the dimension tables."""

    nodes: set[str] = field(default_factory=set)
    objects: dict[ObjectIdentity, None] = field(default_factory=dict)
    """As a set in the order of the log, in which numbers are given."""

    resources: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What the dimension tables say for the names of one batch."""

    nodes: Mapping[str, int]
    objects: Mapping[ObjectIdentity, int]
    resources: Mapping[str, int]
    words: Mapping[str, int]
