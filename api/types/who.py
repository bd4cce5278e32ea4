"""Who changed each field of an object last."""

from typing import Self

from api.describing import described
from api.types.authors import Author
from api.types.coverage import Coverage
from api.types.entries import Entry
from api.types.scalars import Json
from recorder.classify.changes import How
from recorder.questions.fields import FieldChange as KnownChange

__all__ = ["FieldChange", "Who"]


@described
class FieldChange:
    """The last change of one field."""

    path: str
    """For example `spec.unschedulable`."""

    change: How

    value: Json | None
    """What it is now; null if it was removed."""

    entry: Entry
    """The version that shows the change."""

    author: Author

    @classmethod
    def of(cls, field: KnownChange) -> Self:
        """Take it from an answer."""
        return cls(
            path=field.field,
            change=field.how,
            value=Json(field.value),
            entry=Entry.of(field.line),
            author=Author.of(field.author),
        )


@described
class Who:
    """Who changed each field of an object last."""

    entry: Entry
    """The newest version as of that time, or the end of the object."""

    created: Author | None
    """Null if the log does not hold its beginning."""

    deleted: Author | None
    """Null if the object was still there."""

    fields: list[FieldChange]
    """By path. A part that nobody changed since it began is one field."""

    more: bool
    """Whether there are older versions that were not compared."""

    coverage: Coverage
