"""Who fought over a node, as the public interface shows it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from recorder.documents.actors import ActorDocument
from recorder.explain.verdict import Contest
from recorder.model.document import Document

__all__ = ["ContestDocument", "CordonContestDocument"]


class CordonContestDocument(Document, frozen=True, kw_only=True):
    """Two who undo each other's cordon."""

    cordoned_by: ActorDocument
    uncordoned_by: ActorDocument
    since: datetime
    until: datetime
    entries: Sequence[str]

    @classmethod
    def of(cls, contest: Contest) -> Self:
        """Return the document of a contest."""
        return cls(
            cordoned_by=ActorDocument.of(contest.cordoned_by),
            uncordoned_by=ActorDocument.of(contest.uncordoned_by),
            since=contest.since,
            until=contest.until,
            entries=[str(entry) for entry in contest.entries],
        )


class ContestSideDocument(Document, frozen=True, kw_only=True):
    """One of two, and what it set a field to."""

    actor: ActorDocument
    value: bool | str | None


class ContestDocument(Document, frozen=True, kw_only=True):
    """Two who undo each other's changes of one field of the Node."""

    path: str
    sides: Sequence[ContestSideDocument]
    since: datetime
    until: datetime
    entries: Sequence[str]

    @classmethod
    def of(cls, contest: Contest) -> Self:
        """Return the document of a contest."""
        return cls(
            path=contest.path,
            sides=[
                ContestSideDocument(
                    actor=ActorDocument.of(side.actor), value=side.value
                )
                for side in contest.sides
            ],
            since=contest.since,
            until=contest.until,
            entries=[str(entry) for entry in contest.entries],
        )
