"""The author of a change: by ``managedFields``, the only record without audit.

`recorder.classify.managers` names all who wrote a version, of whole documents
at hand. Here it is asked which one of them changed one field, while a log is
written: of the version before only a hash of each entry is kept. Whoever
only took fields away may have lost its entry. So a change has an author when
exactly one writer fits, and none is better than a wrong one.
"""

from collections.abc import Sequence

import msgspec

from recorder.classify.managers import moved
from recorder.classify.shapes import Managed
from recorder.facts.parts import read_managed

__all__ = ["author_of", "movers_of"]

NOBODY = Managed()


def movers_of(
    before: Sequence[int], now: Sequence[int], managed: Sequence[msgspec.Raw]
) -> list[Managed]:
    """Return the entries that are not as they were.

    Args:
        before: hashes of the entries of the version before.
        now: those of the new version.
        managed: the entries of the new version.

    Raises:
        ValueError: one is not built as it should be.
    """
    return [_read(bytes(managed[place])) for place, _ in moved(before, now)]


def author_of(
    path: Sequence[bytes],
    movers: Sequence[Managed],
    managed: Sequence[msgspec.Raw],
) -> Managed | None:
    """Return the entry of who wrote a change, None if it cannot be known.

    Args:
        path: the members of ``fieldsV1`` that lead to the field.
        movers: the entries that moved.
        managed: the entries of the new version.

    Raises:
        ValueError: an entry is not built as it should be.
    """
    if len(movers) == 1:
        return movers[0]
    if movers:
        owners = [e for e in movers if _leads(path, bytes(e.fields_v1))]
    else:
        # Two writes of one writer within a second leave no trace of the
        # second but the value, whose only owner is its author.
        entries = [_read(e) for e in map(bytes, managed) if _leads(path, e)]
        owners = [e for e in entries if _leads(path, bytes(e.fields_v1))]
    return owners[0] if len(owners) == 1 else None


def _read(written: bytes) -> Managed:
    return read_managed(written, "metadata.managedFields[]") or NOBODY


def _leads(path: Sequence[bytes], fields: bytes) -> bool:
    start = 0
    for member in path:
        start = fields.find(member, start)
        if start < 0:
            return False
    return True
