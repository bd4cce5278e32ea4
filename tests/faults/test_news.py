"""What the oracle takes for news when two sessions overlap a rewind."""

from recorder.model.observation import WatchFrame
from tests.faults.gaps import Newest, forget, news
from tests.faults.process import Note
from tests.support.builders import PODS, a_bookmark, a_frame, an_object

WRITER, FENCED = 6, 2


def found(
    newest: Newest, session: int, epoch: int, frame: WatchFrame
) -> list[bool]:
    """Return whether a frame is news; nothing where it is no proof at all."""
    note = Note(0.0, session, epoch, frame)
    return [is_news for _, _, is_news in news(note, frame, newest)]


def a_pod(version: int, *, late: bool = False) -> WatchFrame:
    return a_frame(PODS, "MODIFIED", an_object("a", version), late=late)


def test_a_version_is_news_once() -> None:
    newest: Newest = {}

    assert found(newest, WRITER, 0, a_pod(7)) == [True]
    assert found(newest, WRITER, 0, a_pod(7)) == []
    assert found(newest, WRITER, 0, a_pod(8, late=True)) == []
    assert found(newest, FENCED, 0, a_pod(8)) == [False]


def test_after_a_rewind_lower_versions_are_news() -> None:
    newest: Newest = {(FENCED, 0): 9}

    forget(Note(0.0, WRITER, 1, a_bookmark(PODS, 1)), newest)

    assert found(newest, WRITER, 1, a_pod(7)) == [True]


def test_who_notices_a_rewind_late_makes_no_old_version_news() -> None:
    newest: Newest = {(WRITER, 1): 7, (FENCED, 0): 9}

    forget(Note(0.0, FENCED, 1, a_bookmark(PODS, 1)), newest)

    assert found(newest, WRITER, 1, a_bookmark(PODS, 7)) == []
    assert found(newest, FENCED, 1, a_pod(7)) == [False]
