"""One object: its versions, and itself at any time."""

from datetime import datetime
from typing import Self

import strawberry

from api.describing import described
from api.scalars import Json
from api.types.coverage import Coverage
from api.types.entries import Change
from api.types.pages import PageInfo
from recorder.classify.managers import FieldManager
from recorder.model.author import Author
from recorder.model.reference import ObjectIdentity
from recorder.questions.history import Version as KnownVersion
from recorder.questions.nouns import Line

__all__ = [
    "Difference",
    "Heartbeats",
    "ObjectAt",
    "Version",
    "VersionConnection",
    "VersionEdge",
]


@described
class Version:
    """One entry of an object's history."""

    entry: Line

    writers: list[FieldManager]
    """Who wrote it, according to field managers; empty if unknown."""

    author: Author
    """Who made it: by audit, else by field managers."""

    changed: list[Change]
    """Differences from the previous version of the same incarnation."""

    begins: bool
    """Whether it is the first of its incarnation in the log."""

    uid_before: str | None
    """The previous incarnation, if a new one begins here."""

    @classmethod
    def of(cls, version: KnownVersion) -> Self:
        """Take it from an answer."""
        return cls(
            entry=version.line,
            writers=[*version.managers],
            author=version.attribution.author,
            changed=[Change.of(*one) for one in version.authored],
            begins=version.begins,
            uid_before=version.before,
        )


@described
class VersionEdge:
    """A version and its place."""

    cursor: str
    """Opaque cursor, valid for this log only."""

    node: Version


@described
class Heartbeats:
    """Updates that were counted instead of stored."""

    count: int

    last_at: datetime | None


@described
class VersionConnection:
    """Versions in log order, oldest first."""

    edges: list[VersionEdge]

    nodes: list[Version]

    page_info: PageInfo

    heartbeats: Heartbeats | None
    """Heartbeats of the current incarnation."""

    coverage: Coverage


@described
class ObjectAt:
    """An object as it was."""

    entry: Line
    """The newest version as of that time."""

    document: Json
    """With the apiVersion and kind that items of lists do not carry."""

    heartbeats: Heartbeats | None
    """Of the newest version: what was counted since."""

    coverage: Coverage


@described
class Difference:
    """What changed between two times."""

    object: ObjectIdentity

    outcome: str
    """`same`, `changed`, `added`, `deleted`, `absent`, `not there`, or
    `another incarnation`."""

    from_: Line | None = strawberry.field(
        name="from", description="The version at the start."
    )

    to: Line | None
    """The version at the end."""

    changed: list[Change]

    writers: list[FieldManager]

    coverage: Coverage
