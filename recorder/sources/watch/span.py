"""What a walk is given, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from recorder.intake.ports import HeldVersion

__all__ = ["Found", "Span", "Walked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The part of the past to be walked."""

    since: int
    """Everything up to this version is known."""

    until: int
    """The version of the new list."""

    before: Mapping[str, HeldVersion]
    """What the log holds as alive, or what there was at ``since``, by uid."""

    after: Mapping[str, HeldVersion]
    """What the new list shows."""

    based: bool = False
    """Whether the log holds nothing of ``before``, so that of what changed
    the version at ``since`` is wanted as well."""


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """A version of an object, or its deletion, that the walk found."""

    version: int
    uid: str
    raw: bytes = field(compare=False)
    """Its document; for a deletion that of its last version."""

    deleted: bool = False


@dataclass(slots=True)
class Walked:
    """What came of a walk."""

    found: list[Found] = field(default_factory=list)
    """In the order of versions, which is that of every object too."""

    unaccounted: int = 0
    """Versions of the span in which something may have come or gone."""

    incomplete: set[str] = field(default_factory=set)
    """Uids of objects of which earlier versions may be missing."""

    undated: set[str] = field(default_factory=set)
    """Uids of objects of which it is not known when they went."""

    ended: str | None = None
    """Why the walk ended early; None if it did not."""

    @property
    def healed(self) -> bool:
        """Whether nothing can be missing any more."""
        return not (
            self.ended or self.unaccounted or self.incomplete or self.undated
        )
