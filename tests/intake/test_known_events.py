"""How far back the log is asked for Events that a list shows.

A list shows one that the log is not found to hold of the last hours, although
it was taken that far: either our clock was wrong, and the log does hold it, or
it lacks it for good. What becomes of clocks is in `test_clock_jumps`.
"""

from datetime import timedelta
from typing import Any

import orjson
import pytest

from recorder.intake.known_events import outlived
from recorder.model.observation import Observation
from tests.support.builders import (
    EVENTS,
    a_closed_stream,
    a_frame,
    a_list,
    an_event,
)
from tests.support.story import TTL, Story

HOUR = 3600.0
RECENT = 2 * TTL + timedelta(seconds=11)
"""From ten seconds of absence, and one until the list began."""


def ten_hours() -> Story:
    """A log that took Events up to version 200, of one stream."""
    return Story(
        a_list(EVENTS, 9, an_event("first", 3), when=0),
        a_frame(EVENTS, "ADDED", an_event("late", 200), when=10 * HOUR),
    )


def a_relist(*events: dict[str, Any]) -> list[Observation]:
    when = 10 * HOUR + 10
    return [
        a_closed_stream(EVENTS, "410", when=when),
        a_list(EVENTS, 300, *events, when=when + 1),
    ]


def test_one_that_the_log_lacks_is_looked_for_by_its_version_alone() -> None:
    story = ten_hours()
    before = len(story.asked)

    story.take(*a_relist(an_event("late", 200), an_event("lost", 150)))

    assert story.asked[before:] == [RECENT, [150]]
    assert [d.resource_version for d in story.of("listed")] == ["3", "150"]


def test_one_that_the_log_holds_is_read_from_where_it_is() -> None:
    story = ten_hours()
    before = len(story.asked)

    story.take(*a_relist(an_event("late", 200), an_event("first", 3)))

    assert story.asked[before:] == [RECENT, [3], RECENT * 4, RECENT * 16]
    assert len(story.of("listed")) == 1


def test_what_is_newer_than_what_was_taken_is_not_looked_for() -> None:
    story = ten_hours()
    before = len(story.asked)

    story.take(*a_relist(an_event("late", 200), an_event("new", 250)))

    assert story.asked[before:] == [RECENT]


def test_versions_that_are_no_numbers_are_read_for() -> None:
    story = ten_hours()
    before = len(story.asked)
    odd = an_event("odd", 200)
    odd["metadata"]["resourceVersion"] = "200"
    huge = an_event("huge", 0)
    huge["metadata"]["resourceVersion"] = "0" * 30

    story.take(*a_relist(odd, huge))

    assert story.asked[before:] == [RECENT, [200], RECENT * 4, RECENT * 16]


def item(uid: str, version: str) -> bytes:
    return orjson.dumps({"metadata": {"uid": uid, "resourceVersion": version}})


@pytest.mark.parametrize(
    ("shown", "versions"),
    [
        (item("unknown", "89"), ["89"]),
        (item("unknown", "90"), ["90"]),
        (item("unknown", "91"), []),
        (item("unknown", "100"), []),
        (item("known", "89"), []),
        (item("", "89"), []),
        (item("unknown", ""), []),
        (b'{"metadata": {"uid": 1}}', []),
        (b"\xff", []),
    ],
)
def test_only_what_was_taken_and_is_not_known_is_doubted(
    shown: bytes, versions: list[str]
) -> None:
    items = [item("known", "12"), shown]

    assert [*outlived(items, {"known"}, "90")] == versions
