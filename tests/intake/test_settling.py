"""Where a gap starts: at the last proof that nothing had been held back.

What a proof is while the server goes on accepting our version is in
`tests/report`; here the history is gone, and it must be known from when on
something may be missing.
"""

from typing import Any

import pytest

from recorder.model.observation import RequestFailed, StreamResumed
from recorder.model.reference import Resource
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


def frame(version: int, when: float) -> Any:
    return a_frame(PODS, "MODIFIED", an_object("a", version), when=when)


def resumed(when: float, resource: Resource = PODS) -> StreamResumed:
    return StreamResumed(observed_at=at(when), resource=resource)


def start_of_gap(*observations: Any, when: float) -> float:
    """Seconds at which a gap starts that a 410 opens after these."""
    first = a_list(PODS, 9, an_object("a", 3), when=0)
    story = Story(
        first, *observations, a_closed_stream(PODS, "410", when=when)
    )
    gap = story.point(PODS).gap
    assert gap is not None
    assert gap.since is not None
    return (gap.since - at(0)).total_seconds()


def test_a_frame_that_came_as_it_was_made_is_the_start() -> None:
    assert start_of_gap(frame(10, 5), frame(11, 20), when=30) == 20


@pytest.mark.parametrize("ends", [1, 3])
def test_ends_and_resumes_of_a_silent_watch_are_not(ends: int) -> None:
    """A server that stalls with changes in hand ends its watches in time."""
    silent = [
        observation
        for end in range(ends)
        for observation in (
            resumed(60 + 60 * end),
            a_closed_stream(PODS, "timeout", when=60 + 60 * end),
        )
    ]

    assert start_of_gap(frame(10, 5), *silent, when=200) == 5


def test_the_first_frames_behind_a_silence_are_not() -> None:
    """What a server held back comes at once, the oldest first."""
    burst = [frame(10, 200), frame(11, 200.1)]

    assert start_of_gap(frame(9, 30), *burst, when=201) == 30
    assert start_of_gap(*burst, frame(12, 270), when=280) == 0
    assert (
        start_of_gap(*burst, frame(12, 274), frame(13, 276), when=280) == 276
    )


def test_the_first_frames_behind_a_loss_are_not() -> None:
    lost = a_closed_stream(PODS, "the connection broke", when=20)
    again = [frame(10, 10), lost, resumed(25), frame(11, 25), frame(12, 60)]

    assert start_of_gap(*again, when=70) == 10
    assert (
        start_of_gap(*again, a_bookmark(PODS, 20, when=120), when=121) == 120
    )


def test_a_list_is_one_at_once() -> None:
    lost = a_closed_stream(PODS, "the connection broke", when=20)
    listed = a_list(PODS, 30, an_object("a", 11), when=40)

    assert start_of_gap(frame(10, 10), lost, listed, when=50) == 40


def test_it_is_remembered_by_the_next_process() -> None:
    story = Story(
        a_list(PODS, 9, an_object("a", 3), when=0),
        frame(10, 5),
        a_closed_stream(PODS, "timeout", when=65),
    ).restarted(a_closed_stream(PODS, "410", when=70))

    gap = story.point(PODS).gap
    assert gap is not None
    assert gap.since == at(5)


def test_a_watch_that_said_nothing_heals_no_gap() -> None:
    """An old version is refused in a frame, which a stall holds back."""
    story = Story(
        a_list(EVENTS, 9, an_event("e", 5), when=0),
        RequestFailed(
            observed_at=at(10), resource=EVENTS, status=403, reason="no"
        ),
        resumed(70, EVENTS),
        a_closed_stream(EVENTS, "timeout", when=70),
    )
    assert story.gaps() == []

    story.take(a_frame(EVENTS, "ADDED", an_event("f", 12), when=80))
    (gap,) = story.gaps()
    assert gap["possible"] == []
