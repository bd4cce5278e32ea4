"""Where a gap starts: at the last news, when the history is gone.

What vouches for a stream while the server goes on accepting our version is in
`tests/coverage`; here the history is gone, and it must be known from when on
something may be missing.
"""

from typing import Any

from recorder.model.observation import (
    SETTLED,
    RequestFailed,
    StreamResumed,
)
from tests.support.builders import (
    PODS,
    a_bookmark,
    a_closed_stream,
    a_frame,
    a_list,
    an_object,
    at,
)
from tests.support.story import Story


def frame(version: int, when: float, *, late: bool = False) -> Any:
    return a_frame(
        PODS, "MODIFIED", an_object("a", version), when=when, late=late
    )


def resumed(when: float) -> StreamResumed:
    return StreamResumed(observed_at=at(when), resource=PODS)


def a_quiet_end(when: float) -> list[Any]:
    """A watch that was taken, said nothing, and ended at its time."""
    return [resumed(when), a_closed_stream(PODS, "timeout", when=when)]


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


def test_a_list_is_a_start() -> None:
    assert start_of_gap(when=30) == 0


def test_a_new_version_is_a_start() -> None:
    assert start_of_gap(frame(10, 5), when=30) == 5
    assert start_of_gap(a_bookmark(PODS, 10, when=5), when=30) == 5


def test_a_clock_that_is_slewed_back_takes_none_back() -> None:
    assert start_of_gap(frame(10, 5), frame(11, 4.5), when=30) == 5


def test_the_end_of_a_quiet_watch_is_none() -> None:
    """A server ends it at its time, whatever it still has in hand."""
    quiet = [*a_quiet_end(60), *a_quiet_end(120), *a_quiet_end(180)]

    assert start_of_gap(frame(10, 5), *quiet, when=200) == 5


def test_a_bookmark_of_the_old_version_is_none() -> None:
    """A watch cache sends it each minute, however old its version is."""
    again = a_bookmark(PODS, 10, when=65)

    assert start_of_gap(frame(10, 5), again, when=70) == 5


def test_a_frame_that_comes_again_is_none() -> None:
    lost = a_closed_stream(PODS, "the connection broke", when=60)
    again = [resumed(61), frame(10, 61)]

    assert start_of_gap(frame(10, 5), lost, *again, when=70) == 5


def test_a_frame_that_trickled_in_is_none() -> None:
    """It is unknown when it was made, and more may wait behind it."""
    slow = [frame(11, 40, late=True), frame(12, 70, late=True)]

    assert start_of_gap(frame(10, 5), *slow, when=80) == 5
    assert start_of_gap(frame(10, 5), *slow, frame(13, 75), when=80) == 75


def test_a_tape_says_itself_where_a_gap_starts() -> None:
    """The log that it was cut out of knew more than what is on it."""
    earlier = a_closed_stream(PODS, SETTLED, when=3)
    later = a_closed_stream(PODS, SETTLED, when=9)

    assert start_of_gap(frame(10, 5), earlier, when=30) == 3
    assert start_of_gap(frame(10, 5), later, when=30) == 9


def test_it_is_remembered_by_the_next_process() -> None:
    story = Story(
        a_list(PODS, 9, an_object("a", 3), when=0),
        frame(10, 5),
        *a_quiet_end(65),
    ).restarted(a_closed_stream(PODS, "410", when=70))

    gap = story.point(PODS).gap
    assert gap is not None
    assert gap.since == at(5)


def test_a_gap_that_healed_in_silence_is_part_of_the_next() -> None:
    """A resume is taken before the server looks at the history."""
    refused = RequestFailed(
        observed_at=at(10), resource=PODS, status=403, reason="no"
    )
    story = Story(
        a_list(PODS, 9, an_object("a", 3), when=0),
        frame(10, 5),
        refused,
        *a_quiet_end(70),
        a_closed_stream(PODS, "410", when=80),
        a_list(PODS, 20, an_object("a", 10), when=81),
    )

    healed, gap = story.gaps()
    assert (healed["reason"], healed["possible"]) == ("forbidden (403)", [])
    assert gap["reason"] == "watch expired (410)"
    assert gap["from"] == healed["from"]
    assert gap["possible"]
