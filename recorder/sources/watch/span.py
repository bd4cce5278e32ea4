"""What a walk is given, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from recorder.intake.ports import HeldVersion
from recorder.sources.watch.errors import RequestError

__all__ = ["Found", "Span", "Walked", "possible", "proved"]

CAME_AND_WENT = "an object that was created and deleted in between"


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

    stages: int = 0
    """How many walks before this one are counted in, without what they
    found."""

    lost: RequestError | None = None
    """The connection that was lost meanwhile: it may go on later."""

    def joined(self, later: "Walked") -> "Walked":
        """Return what came of this walk and of one that went on behind it.

        Without what was found, which is no longer held.
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
    """Say what a walk read and found."""
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
    """Say what may be missing; None if a list alone tells that."""
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
