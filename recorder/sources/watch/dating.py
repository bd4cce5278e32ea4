"""The latest times at which recovered versions can have been written.

No watch saw them, but a writer leaves a time in ``managedFields``, by the API
server's clock and in whole seconds. A version was written by the newest time
that it shows, if the version before it does not show the same time; and every
version was written by the times of later ones. A writer that removes a field
may leave no time, and neither do deletions and bindings.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import msgspec

from recorder.facts.classify.times import moment
from recorder.sources.watch.frames import UNREADABLE
from recorder.sources.watch.span import Found

PRECISION = timedelta(seconds=1)


class _Entry(msgspec.Struct):
    time: str = ""


class _Metadata(msgspec.Struct):
    managedFields: list[_Entry] | None = None  # noqa: N815 - the API's name


class _Object(msgspec.Struct):
    metadata: _Metadata


_decode = msgspec.json.Decoder(_Object).decode


def dated(
    found: Sequence[Found],
) -> Iterator[tuple[Found, datetime | None]]:
    """Yield what was found, each with the time by which it was written.

    In the order of versions, as they must be put; None where no version shows
    a time.
    """
    newest: dict[str, datetime] = {}
    own: list[datetime | None] = []
    for one in found:
        shown = None if one.deleted else _newest(one.raw)
        before = newest.get(one.uid)
        if shown is not None and (before is None or before < shown):
            newest[one.uid] = shown
            own.append(shown + PRECISION)
        else:
            own.append(None)
    by: datetime | None = None
    bounds = []
    for time in reversed(own):
        by = min((t for t in (time, by) if t is not None), default=None)
        bounds.append(by)
    yield from zip(found, reversed(bounds), strict=True)


def _newest(raw: bytes) -> datetime | None:
    """Return the newest time in the managed fields of a version."""
    try:
        entries = _decode(raw).metadata.managedFields or ()
    except UNREADABLE:
        return None
    return max(
        (t for t in (moment(e.time) for e in entries) if t), default=None
    )
