"""Events and proofs after the recorder's own clock was set."""

from datetime import timedelta

import pytest

from recorder.model.observation import ClockJumped, Observation
from tests.support.builders import (
    EVENTS,
    PODS,
    a_bookmark,
    a_closed_stream,
    a_frame,
    a_list,
    an_event,
    an_object,
    at,
)
from tests.support.story import Story

DAY = 86_400.0


def a_jump(when: float, seconds: float) -> ClockJumped:
    return ClockJumped(observed_at=at(when), seconds=seconds)


def two_events(version: int, when: float) -> Observation:
    first, second = an_event("first", 3), an_event("second", 4)
    return a_list(EVENTS, version, first, second, when=when)


@pytest.mark.parametrize("seconds", [DAY, -DAY])
def test_a_jump_makes_no_event_new(seconds: float) -> None:
    """They were observed a day ago, or will be, as our clock has it."""
    story = Story(
        two_events(9, when=0),
        a_jump(60 + seconds, seconds),
        a_closed_stream(EVENTS, "410", when=70 + seconds),
        two_events(20, when=71 + seconds),
    )

    assert len(story.of("listed")) == 2
    assert not story.of("absent")


def test_a_jump_is_remembered_by_the_next_process() -> None:
    story = Story(two_events(9, when=0), a_jump(60 + DAY, DAY))
    resumed = a_closed_stream(EVENTS, "timeout", when=65 + DAY)
    again = story.take(resumed).restarted(
        a_closed_stream(EVENTS, "410", when=70 + DAY),
        two_events(20, when=71 + DAY),
    )

    assert len(again.of("listed")) == 2
    assert not again.of("gap-opened")


def test_an_event_has_not_aged_with_our_clock() -> None:
    """It was deleted before its TTL, whatever its age by our clock."""
    story = Story(
        two_events(9, when=0),
        a_jump(60 + DAY, DAY),
        a_closed_stream(EVENTS, "timeout", when=65 + DAY),
        a_closed_stream(EVENTS, "410", when=70 + DAY),
        a_list(EVENTS, 20, an_event("first", 3), when=71 + DAY),
    )

    assert len(story.of("absent")) == 1
    assert len(story.gaps()) == 1


def test_an_event_of_before_a_jump_is_looked_for_behind_it() -> None:
    """Everything in the list was dated by the clock as it is now."""
    third = an_event("third", 15)
    story = Story(
        two_events(9, when=0),
        a_jump(60 + DAY, DAY),
        a_frame(EVENTS, "ADDED", third, when=65 + DAY),
        a_closed_stream(EVENTS, "410", when=70 + DAY),
        a_list(EVENTS, 20, third, when=71 + DAY),
    )

    assert len(story.of("absent")) == 2
    assert len(story.gaps()) == 1


def test_an_event_that_is_gone_is_recorded_once() -> None:
    """Its delete was observed by a clock that had been set back."""
    story = Story(
        two_events(9, when=0),
        a_jump(60 - DAY, -DAY),
        a_frame(EVENTS, "DELETED", an_event("second", 12), when=61 - DAY),
        a_closed_stream(EVENTS, "410", when=70 - DAY),
        a_list(EVENTS, 20, an_event("first", 3), when=71 - DAY),
    )

    assert not story.of("absent")


def test_a_proof_is_as_old_after_a_jump_as_before() -> None:
    """The gap begins with what was proven, and not with the jump."""
    story = Story(
        a_list(PODS, 9, an_object("a", 3), when=0),
        a_bookmark(PODS, 20, when=30),
        a_jump(60 - DAY, -DAY),
        a_closed_stream(PODS, "410", when=90 - DAY),
    )

    gap = story.point(PODS).gap
    assert gap is not None
    assert gap.since == at(30) - timedelta(days=1)


def test_a_clock_that_was_set_back_makes_no_absence_shorter() -> None:
    """The list proves nothing: an Event may have come and gone meanwhile."""
    story = Story(
        two_events(9, when=0),
        a_closed_stream(EVENTS, "timeout", when=7100),
        a_jump(0, -7200),
        a_closed_stream(EVENTS, "410", when=10),
        two_events(20, when=11),
    )

    (gap,) = story.gaps()
    assert gap["from"] == "2026-11-21T01:00:00.000000Z"


def after_an_unrecorded_jump(*pages: Observation) -> Story:
    """A process that resumes where one stopped, a day later by the clock."""
    return Story(two_events(9, when=0)).restarted(
        a_frame(EVENTS, "ADDED", an_event("new", 15), when=69 + DAY),
        a_closed_stream(EVENTS, "410", when=70 + DAY),
        *pages,
    )


def test_a_jump_without_a_recorder_makes_no_event_new() -> None:
    """By the clock they would have expired long ago."""
    first, second = an_event("first", 3), an_event("second", 4)
    story = after_an_unrecorded_jump(
        a_list(EVENTS, 20, an_event("new", 15), more=True, when=71 + DAY),
        a_list(EVENTS, 20, first, second, when=72 + DAY),
    )

    assert len(story.of("listed")) == 2
    assert not story.of("absent")


def test_an_event_that_went_after_such_a_jump_is_absent() -> None:
    story = after_an_unrecorded_jump(
        a_list(EVENTS, 20, an_event("first", 3), when=71 + DAY)
    )

    assert len(story.of("listed")) == 2
    assert len(story.of("absent")) == 2


def test_a_list_that_began_before_a_jump_proves_nothing_after_it() -> None:
    """A proof by a clock that was ahead would hold until that time comes."""
    story = Story(
        a_list(PODS, 9, an_object("a", 3), when=0),
        a_closed_stream(PODS, "410", when=50),
        a_list(PODS, 20, an_object("a", 3), more=True, when=51),
        a_jump(60 - DAY, -DAY),
        a_list(PODS, 20, when=61 - DAY),
    )

    assert story.point(PODS).vouched_until == at(51 - DAY)
    (gap,) = story.gaps()
    assert gap["to"] == "2026-11-20T03:00:51.000000Z"
