"""What differs between two versions of an object."""

import json

from recorder.classify.changes import Change, Manifest, changes, is_noise
from recorder.model.reference import Resource
from recorder.questions.ports import Line

__all__ = ["document_of", "visible_changes"]


def document_of(line: Line, kind: str) -> Manifest:
    """Return an entry's object, with what items of a list do not carry."""
    found: Manifest = json.loads(line.raw or b"{}")
    resource = Resource.parse(line.resource or "")
    return {"apiVersion": resource.api_version, "kind": kind, **found}


def visible_changes(
    old: Manifest, new: Manifest, *, all_fields: bool
) -> list[Change]:
    """Return what differs, without what is noise unless it is asked for."""
    return [
        change
        for change in changes(old, new)
        if all_fields or not is_noise(change)
    ]
