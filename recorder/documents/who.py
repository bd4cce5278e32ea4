"""Who changed what of an object last, as the public interface shows it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from recorder.coverage.coverage import Coverage
from recorder.model.author import Author
from recorder.model.document import Document
from recorder.model.entry import Operation
from recorder.model.reference import EntryName
from recorder.questions.contests import FieldContest
from recorder.questions.fields import FieldChange
from recorder.questions.lines import ShownObject, shown_object
from recorder.questions.who import Who

__all__ = ["WhoDocument"]


class WhoDocument(Document, frozen=True, kw_only=True):
    """Who made an object what it is."""

    object: ShownObject
    entry: EntryName
    """The newest version, or the end of the object."""

    operation: Operation
    observed_at: datetime
    created: Author | None
    deleted: Author | None
    fields: Sequence[FieldChange]
    contests: Sequence[FieldContest]
    more: bool
    coverage: Coverage

    @classmethod
    def of(cls, who: Who) -> Self:
        """Return the document of an answer."""
        line = who.version
        return cls(
            object=shown_object(line, who.found.kind.kind),
            entry=line.entry,
            operation=line.operation,
            observed_at=line.observed_at,
            created=who.created,
            deleted=who.deleted,
            fields=who.fields,
            contests=who.contests,
            more=who.more,
            coverage=who.coverage,
        )
