"""Who changed what of an object last, as the public interface shows it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from recorder.documents.coverage import CoverageDocument
from recorder.documents.entries import ObjectDocument
from recorder.documents.versions import object_document
from recorder.model.author import Author
from recorder.model.document import Document
from recorder.questions.contests import FieldContest
from recorder.questions.fields import FieldChange
from recorder.questions.who import Who

__all__ = ["WhoDocument"]


class FieldDocument(Document, frozen=True, kw_only=True):
    """The last change of one field."""

    path: str
    change: str
    value: object
    """What it is now; null of what was removed."""

    entry: str
    """The version that shows the change."""

    observed_at: datetime
    author: Author

    @classmethod
    def of(cls, field: FieldChange) -> Self:
        """Return the document of a field."""
        return cls(
            path=field.field,
            change=field.how,
            value=field.value,
            entry=str(field.line.entry),
            observed_at=field.line.observed_at,
            author=field.author,
        )


class SideDocument(Document, frozen=True, kw_only=True):
    """One of two, and what it set a field to."""

    author: Author
    value: object
    """Null where it removed it; true of a part that it added."""


class FieldContestDocument(Document, frozen=True, kw_only=True):
    """Two authors took turns at a field, each undoing the other's change."""

    path: str
    sides: Sequence[SideDocument]
    since: datetime
    until: datetime
    entries: Sequence[str]
    """The versions that show the changes."""

    @classmethod
    def of(cls, contest: FieldContest) -> Self:
        """Return the document of a contest."""
        return cls(
            path=contest.field,
            sides=[
                SideDocument(author=author, value=value)
                for author, value in contest.sides
            ],
            since=contest.since,
            until=contest.until,
            entries=[str(line.entry) for line in contest.lines],
        )


class WhoDocument(Document, frozen=True, kw_only=True):
    """Who made an object what it is."""

    object: ObjectDocument
    entry: str
    """The newest version, or the end of the object."""

    operation: str
    observed_at: datetime
    created: Author | None
    deleted: Author | None
    fields: Sequence[FieldDocument]
    contests: Sequence[FieldContestDocument]
    more: bool
    coverage: CoverageDocument

    @classmethod
    def of(cls, who: Who) -> Self:
        """Return the document of an answer."""
        line = who.version
        return cls(
            object=object_document(line, who.found),
            entry=str(line.entry),
            operation=line.operation,
            observed_at=line.observed_at,
            created=who.created,
            deleted=who.deleted,
            fields=[FieldDocument.of(one) for one in who.fields],
            contests=[FieldContestDocument.of(one) for one in who.contests],
            more=who.more,
            coverage=CoverageDocument.of(who.coverage),
        )
