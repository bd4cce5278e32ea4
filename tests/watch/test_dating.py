"""By when an unseen object was written."""

from datetime import UTC, datetime

import orjson

from recorder.sources.watch.dating import dated
from recorder.sources.watch.span import Found


def version(number: int, uid: str, *times: int) -> Found:
    entries = [{"time": f"2026-01-01T00:00:{time:02}Z"} for time in times]
    document = {"metadata": {"managedFields": entries}}
    return Found(number, uid, orjson.dumps(document))


def seconds(*found: Found) -> list[float | None]:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        None if at is None else (at - start).total_seconds()
        for _, at in dated(found)
    ]


def test_a_version_was_written_by_the_end_of_the_second_it_shows() -> None:
    assert seconds(version(1, "a", 3), version(2, "a", 3, 9)) == [4, 10]


def test_a_version_that_shows_no_new_time_was_there_before_the_next() -> None:
    uncordoned = version(2, "a", 3)
    assert seconds(version(1, "a", 3), uncordoned, version(3, "b", 20)) == [
        4,
        21,
        21,
    ]


def test_a_deletion_was_made_before_whatever_came_later() -> None:
    gone = Found(2, "a", b"{}", deleted=True)
    assert seconds(version(1, "a", 3), gone, version(3, "b", 8)) == [4, 9, 9]


def test_nothing_is_guessed_without_evidence() -> None:
    gone = Found(2, "a", b"{}", deleted=True)
    assert seconds(version(1, "a"), gone) == [None, None]


def test_a_clock_that_was_set_back_makes_no_version_later_than_the_next() -> (
    None
):
    assert seconds(version(1, "a", 30), version(2, "b", 8)) == [9, 9]
