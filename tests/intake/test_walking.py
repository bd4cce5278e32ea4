"""Reading the past ends a gap, or leaves it to a list."""

from typing import Any

import orjson
from msgspec.structs import replace

from recorder.intake.streams import is_half_read
from recorder.model.entry import Operation
from recorder.model.observation import (
    EXPIRED,
    HistoryWalked,
    Observation,
    StreamClosed,
    StreamResumed,
)
from tests.intake.test_knowledge import known
from tests.support.builders import (
    EVENTS,
    PODS,
    a_frame,
    a_list,
    an_event,
    an_object,
    at,
)
from tests.support.story import Story

KEY = ("watch", str(PODS))
EXPIRED_AT_80 = (
    a_list(PODS, 80, an_object("a", 80)),
    StreamClosed(observed_at=at(1), resource=PODS, reason=EXPIRED),
)


def read(name: str, version: int) -> Observation:
    frame = a_frame(PODS, "MODIFIED", an_object(name, version), when=2)
    return replace(frame, recovered=True)


def walked(since: int, until: int, *possible: str) -> HistoryWalked:
    return HistoryWalked(
        observed_at=at(3),
        resource=PODS,
        since=str(since),
        until=str(until),
        proved="it was read",
        possible=possible,
        resumes=not possible,
    )


def gaps(story: Story) -> list[dict[str, Any]]:
    closed = story.log.drafts(Operation.GAP_CLOSED)
    return [orjson.loads(draft.raw) for draft in closed]


def test_a_walk_that_leaves_nothing_out_ends_the_gap_without_a_list() -> None:
    story = Story(*EXPIRED_AT_80, read("a", 85), walked(80, 90))

    (gap,) = gaps(story)
    assert gap["possible"] == []
    assert gap["resource_version_after"] == "90"
    assert gap["walked"]["resumes"]
    assert known(story.restarted()).resume_points() == {str(PODS): "90"}


def test_a_stage_goes_on_behind_the_one_before_it_after_a_restart() -> None:
    story = Story(*EXPIRED_AT_80, read("a", 85), walked(80, 90)).restarted()
    story.take(
        StreamClosed(observed_at=at(4), resource=PODS, reason=EXPIRED),
        read("a", 95),
        walked(90, 99),
    )

    assert [
        (gap["resource_version_before"], gap["resource_version_after"])
        for gap in gaps(story)
    ] == [("80", "90"), ("90", "99")]
    assert [gap["possible"] for gap in gaps(story)] == [[], []]


def test_what_was_half_read_is_ended_by_a_list_alone() -> None:
    """A stage is read, another frame is, and the recorder is killed."""
    story = Story(*EXPIRED_AT_80, read("a", 85), read("a", 87)).restarted()
    assert is_half_read(story.ledger.streams[KEY])
    assert known(story).resume_points() == {}
    assert known(story).entered(PODS) == "87"

    resumed = StreamResumed(observed_at=at(4), resource=PODS)
    story.take(resumed, a_frame(PODS, "MODIFIED", an_object("a", 91), when=5))
    assert gaps(story) == [], "the watch proves nothing of what is before it"

    story.take(walked(85, 90))
    assert gaps(story) == [], "nor does a walk from the middle of the gap"

    story.take(a_list(PODS, 99, an_object("a", 91), when=6))
    (gap,) = gaps(story)
    assert gap["resource_version_before"] == "80"
    assert gap["possible"]


def test_a_watch_that_resumes_heals_what_nothing_was_read_of() -> None:
    story = Story(
        *EXPIRED_AT_80, StreamResumed(observed_at=at(4), resource=PODS)
    )

    (gap,) = gaps(story)
    assert gap["possible"] == []


def test_an_event_that_was_read_again_is_entered_without_a_head() -> None:
    """Its identity is that of the object which it is about."""
    frame = a_frame(EVENTS, "ADDED", an_event("e", 12), when=2)
    story = Story(a_list(EVENTS, 9), replace(frame, recovered=True))

    assert len(story.of("recovered")) == 1
    assert list(story.ledger.versions) == []
