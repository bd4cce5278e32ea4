"""What is news to the oracle: a version that nobody had seen before.

Two sessions may overlap, one of them fenced off and not knowing it yet, and
each notices for itself that history was rewound.
"""

from collections.abc import Iterator
from datetime import datetime

import orjson

from recorder.model.observation import HistoryWalked, WatchFrame
from tests.faults.process import Note

__all__ = ["Newest", "forget", "news"]

Newest = dict[tuple[int, int], int]
"""The newest version by session, and by epoch of the cluster."""


def news(
    note: Note, frame: WatchFrame | HistoryWalked, newest: Newest
) -> Iterator[tuple[Note, datetime, bool]]:
    """Yield a frame that may be news; note the newest of each session.

    What was read of the past is none, and is none when it comes again.
    """
    if isinstance(frame, HistoryWalked):
        newest[note.session, note.epoch] = int(frame.until)
        return
    version = int(orjson.loads(frame.object)["metadata"]["resourceVersion"])
    own = [seen for (who, _), seen in newest.items() if who == note.session]
    if version > max(own, default=0) and not frame.late:
        is_news = version > max(newest.values(), default=0)
        yield note, frame.observed_at, is_news
    newest[note.session, note.epoch] = max([*own, version])


def forget(note: Note, newest: Newest) -> None:
    """Forget versions of a history that is over.

    Another session may have noticed before, and seen versions of the new one.
    """
    for who, epoch in list(newest):
        if who == note.session or epoch < note.epoch:
            del newest[who, epoch]
