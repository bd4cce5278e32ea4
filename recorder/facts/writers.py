"""Who wrote a change: by ``managedFields``, the only record without audit.

The API server keeps, for each writer, which fields it owns and when it wrote
last, to the second. Whoever wrote a version has an entry that moved; it may
have lost it if it only took fields away. So a change has an author when
exactly one writer fits, and none is better than a wrong one.
"""

from collections.abc import Sequence
from zlib import crc32

import msgspec

from recorder.classify.shapes import Managed

__all__ = ["Writer", "author_of", "moved", "writers_of"]


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


def moved(
    before: Sequence[Writer], now: Sequence[Writer]
) -> list[tuple[int, Writer]]:
    """Give the writers that were not there as they are, and their place."""
    return [
        (place, writer)
        for place, writer in enumerate(now)
        if writer not in before
    ]


def author_of(
    path: Sequence[bytes],
    movers: Sequence[tuple[int, Writer]],
    managed: Sequence[Managed],
) -> Writer | None:
    """Give the writer of a change, None if it cannot be known.

    Args:
        path: the members of ``fieldsV1`` that lead to the field.
        movers: as `moved` gives them.
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
