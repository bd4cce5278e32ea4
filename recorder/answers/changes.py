"""Differences between two versions of an object."""

import json

from msgspec import UNSET, UnsetType, field

from recorder.facts.classify.changes import (
    Change,
    How,
    Manifest,
    changes,
    is_noise,
)
from recorder.model.author import Author
from recorder.model.document import Document
from recorder.model.entry import Entry
from recorder.model.reference import Resource


class ShownChange(Document, frozen=True, kw_only=True):
    """One difference between two versions."""

    path: str
    """For example `status.conditions[type=Ready].status`."""

    change: How
    old: object | None
    """Null if it was absent."""

    new: object | None
    """Null if it was removed."""

    author: Author | UnsetType = UNSET
    """Only if it is not the author of the version."""

    made_by: Author | None = field(default=None, name="_made_by")


def shown_change(
    change: Change, made_by: Author | None, whole: Author | None = None
) -> ShownChange:
    """Return a change as answers show it; ``whole`` made the version."""
    return ShownChange(
        path=str(change),
        change=change.how,
        old=change.old,
        new=change.new,
        author=UNSET if made_by is None or made_by == whole else made_by,
        made_by=made_by,
    )


def document_of(line: Entry, kind: str) -> Manifest:
    """Return the object of an entry, with its ``apiVersion`` and kind."""
    found: Manifest = json.loads(line.raw or b"{}")
    resource = Resource.parse(line.resource or "")
    return {"apiVersion": resource.api_version, "kind": kind, **found}


def visible_changes(
    old: Manifest, new: Manifest, *, all_fields: bool
) -> list[Change]:
    """Return the differences; insignificant ones only with ``all_fields``."""
    return [
        change
        for change in changes(old, new)
        if all_fields or not is_noise(change)
    ]
