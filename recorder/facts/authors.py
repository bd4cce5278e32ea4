"""The author of a change: by ``managedFields``, the only record without audit.

`recorder.classify.managers` names all who wrote a version, of whole documents
at hand. Here it is asked which one of them changed one field, while a log is
written: of the version before only a digest of each entry is kept. Whoever
only took fields away may have lost its entry. So a change has an author when
exactly one writer fits, and none is better than a wrong one.
"""

from collections.abc import Sequence
from zlib import crc32

import msgspec

from recorder.classify.shapes import Managed

__all__ = ["Writer", "author_of", "writers_of"]


class Writer(msgspec.Struct, array_like=True, gc=False):
    """An entry of ``managedFields``."""

    manager: str
    operation: str
    subresource: str
    time: str
    digest: int
    """Of the fields that it owns."""


def writers_of(managed: Sequence[Managed] | None) -> list[Writer]:
    """Give the writers of a document."""
    return [
        Writer(
            entry.manager or "",
            entry.operation or "",
            entry.subresource or "",
            entry.time or "",
            crc32(entry.fields_v1),
        )
        for entry in managed or ()
    ]


def author_of(
    path: Sequence[bytes],
    movers: Sequence[tuple[int, Writer]],
    managed: Sequence[Managed],
) -> Writer | None:
    """Give the writer of a change, None if it cannot be known.

    Args:
        path: the members of ``fieldsV1`` that lead to the field.
        movers: whose entry moved, and its place.
        managed: the entries of the new version.
    """
    if len(movers) == 1:
        return movers[0][1]
    owners = [
        (place, writer)
        for place, writer in movers
        if _owns(managed[place], path)
    ]
    if len(owners) == 1:
        return owners[0][1]
    if movers:
        return None
    # Two writes of one writer within a second leave no trace of the second
    # but the value, whose only owner is its author.
    found = [entry for entry in managed if _owns(entry, path)]
    return writers_of(found)[0] if len(found) == 1 else None


def _owns(entry: Managed, path: Sequence[bytes]) -> bool:
    fields = bytes(entry.fields_v1)
    start = 0
    for member in path:
        start = fields.find(member, start)
        if start < 0:
            return False
    return True
