"""The input and the result of a walk."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from recorder.intake.ports import HeldVersion
from recorder.sources.watch.errors import RequestError

CAME_AND_WENT = "an object that was created and deleted in between"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The part of the past to walk."""

    since: int
    """Everything up to this version is known."""

    until: int
    """The version of the new list."""

    before: Mapping[str, HeldVersion]
    """What the log holds as alive, or what existed at ``since``, by UID."""

    after: Mapping[str, HeldVersion]
    """What the new list shows."""

    based: bool = False
    """Whether the log holds nothing of ``before``, so that the versions at
    ``since`` of changed objects are wanted as well."""


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """A version of an object, or its deletion, that the walk found."""

    version: int
    uid: str
    raw: bytes = field(compare=False)
    """Its document; for a deletion, that of its last version."""

    deleted: bool = False


@dataclass(slots=True)
class Walked:
    """The result of a walk."""

    found: list[Found] = field(default_factory=list)
    """In the order of versions, which is also that of every object."""

    unaccounted: int = 0
    """How many versions of the span may hide objects that came or went."""

    incomplete: set[str] = field(default_factory=set)
    """UIDs of objects whose earlier versions may be missing."""

    undated: set[str] = field(default_factory=set)
    """UIDs of objects whose time of deletion is unknown."""

    ended: str | None = None
    """Why the walk ended early; None if it did not."""

    stages: int = 0
    """How many earlier walks are included, without what they found."""

    lost: RequestError | None = None
    """The connection that was lost meanwhile: the walk may continue later."""

    def joined(self, later: "Walked") -> "Walked":
        """Return the result of this walk and of one that continued it.

        Without the versions found, which are no longer held.
        """
        return Walked(
            unaccounted=self.unaccounted + later.unaccounted,
            incomplete=self.incomplete | later.incomplete,
            undated=self.undated | later.undated,
            ended=self.ended or later.ended,
            stages=self.stages + 1,
        )

    @property
    def healed(self) -> bool:
        """Whether nothing can be missing any more."""
        return not (
            self.ended or self.unaccounted or self.incomplete or self.undated
        )


def proved(span: Span, walked: Walked, requests: int) -> str:
    """Describe what a walk read and found."""
    versions = sum(not found.deleted for found in walked.found)
    said = (
        f"versions {span.since} to {span.until} were read from the cluster's"
        f" past with {requests} requests: {versions} versions and"
        f" {len(walked.found) - versions} deletions were recovered"
    )
    if walked.healed:
        return f"{said}, and every version is accounted for"
    if walked.ended:
        return f"{said} before the walk ended, because {walked.ended}"
    return said


def possible(walked: Walked) -> list[str] | None:
    """Describe what may be missing; None if only a list can show it."""
    if walked.ended and not (walked.found or walked.stages):
        return None
    left = []
    if walked.unaccounted:
        left.append(
            f"{CAME_AND_WENT}, at one of {walked.unaccounted} versions that"
            " nothing accounts for"
        )
    if walked.incomplete:
        left.append(
            f"earlier versions of {len(walked.incomplete)} objects than were"
            " recovered"
        )
    if walked.undated:
        left.append(
            f"the last versions of {len(walked.undated)} objects, and when"
            " and by whom they were deleted"
        )
    return left
