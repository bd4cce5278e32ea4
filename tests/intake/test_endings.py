"""Ends of streams, refusals by the cluster, rewinds: states, entries, gaps."""

import orjson
import pytest

from recorder.intake.state import StreamState
from recorder.model.observation import (
    EXPIRED,
    ClockJumped,
    EpochBegan,
    HistoryWalked,
    InputRefused,
    RequestFailed,
    StreamResumed,
)
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


def watched() -> list[object]:
    return [
        a_list(PODS, 9, an_object("a", 3)),
        a_bookmark(PODS, 20, when=60),
    ]


@pytest.mark.parametrize("reason", ["eof", "timeout"])
def test_a_clean_end_is_a_proof(reason: str) -> None:
    story = Story(*watched(), a_closed_stream(PODS, reason, when=90))

    assert story.point(PODS).vouched_until == at(90)
    assert story.point(PODS).state is StreamState.LIVE


def test_a_cut_stream_proves_nothing_and_is_no_gap() -> None:
    story = Story(
        *watched(), a_closed_stream(PODS, "connection reset", when=90)
    )

    assert story.point(PODS).vouched_until == at(60)
    assert story.point(PODS).state is StreamState.BACKING_OFF
    assert story.operations() == ["listed"]


def test_a_resume_proves_the_whole_absence() -> None:
    story = Story(
        *watched(),
        a_closed_stream(PODS, "connection reset", when=90),
        StreamResumed(observed_at=at(500), resource=PODS),
    )

    assert story.point(PODS).vouched_until == at(500)
    assert story.gaps() == []


def failed(status: int, when: float) -> RequestFailed:
    return RequestFailed(
        observed_at=at(when), resource=PODS, status=status, reason="no"
    )


@pytest.mark.parametrize(
    ("status", "reason"),
    [(403, "forbidden (403)"), (401, "unauthorized (401)")],
)
def test_a_missing_right_opens_a_gap(status: int, reason: str) -> None:
    story = Story(*watched(), failed(status, 90), failed(status, 150))

    gap = story.point(PODS).gap
    assert gap is not None
    assert (gap.since, gap.reason) == (at(60), reason)
    assert story.point(PODS).state is StreamState.FORBIDDEN
    assert story.operations().count("gap-opened") == 1


def test_a_right_that_returns_in_time_heals_the_gap() -> None:
    story = Story(
        *watched(),
        failed(403, 90),
        a_frame(PODS, "ADDED", an_object("b", 30), when=150),
    )

    (gap,) = story.gaps()
    assert gap["possible"] == []
    assert story.summaries("added") == ["added b 30"]


@pytest.mark.parametrize("status", [0, 429, 500, 503])
def test_a_cluster_that_is_away_is_no_gap_yet(status: int) -> None:
    story = Story(*watched(), failed(status, 90))

    assert story.operations() == ["listed"]
    assert story.point(PODS).state is StreamState.BACKING_OFF


def test_a_kind_that_vanishes_takes_its_objects_with_it() -> None:
    story = Story(*watched(), a_closed_stream(PODS, "404", when=90))

    assert story.summaries("absent") == ["absent a"]
    (gap,) = story.gaps()
    assert (gap["reason"], gap["to"]) == (
        "kind no longer served (404)",
        "2026-11-21T03:01:30.000000Z",
    )
    assert story.point(PODS).state is StreamState.ABSENT
    assert story.point(PODS).gap is None


def test_a_kind_that_stays_away_adds_no_entries() -> None:
    story = Story(*watched(), a_closed_stream(PODS, "404", when=90))
    before = len(story.drafts)
    story.take(failed(404, 150), a_closed_stream(PODS, "404", when=200))

    assert len(story.drafts) == before
    assert story.point(PODS).vouched_until == at(200)


def test_a_kind_that_returns_is_listed_with_a_gap() -> None:
    story = Story(
        *watched(),
        a_closed_stream(PODS, "404", when=90),
        failed(404, 150),
        a_list(PODS, 70, an_object("z", 66), when=160),
    )

    gap = story.gaps()[-1]
    assert gap["from"] == "2026-11-21T03:02:30.000000Z"
    assert story.summaries("listed")[-1] == "listed z 66"


def test_a_kind_that_returns_misses_nothing_since_none_of_it_was() -> None:
    """Also if another process lists it, and if it is not served yet."""
    story = Story(
        *watched(),
        a_closed_stream(PODS, "404", when=90),
        a_bookmark(PODS, 60, when=91),
        failed(404, 92),
    )
    assert story.point(PODS).state is StreamState.ABSENT
    story = story.restarted(
        a_closed_stream(PODS, EXPIRED, when=150),
        HistoryWalked(
            observed_at=at(155),
            resource=PODS,
            since="60",
            until="70",
            proved="versions 60 to 70 were read",
            possible=[],
        ),
        a_list(PODS, 70, an_object("z", 66), when=160),
    )

    gap = story.gaps()[-1]
    assert gap["from"] == "2026-11-21T03:01:32.000000Z"
    assert (gap["resource_version_before"], gap["possible"]) == ("60", [])


def test_what_returned_and_went_again_begins_with_a_list() -> None:
    story = Story(
        *watched(),
        a_closed_stream(PODS, "404", when=90),
        a_bookmark(PODS, 60, when=91),
        a_frame(PODS, "ADDED", an_object("b", 62), when=150),
        a_closed_stream(PODS, "404", when=160),
    )

    assert story.point(PODS).completed is None


def test_a_rewind_begins_an_epoch_and_a_gap_in_every_stream() -> None:
    story = Story(
        *watched(),
        a_list(EVENTS, 9, an_event("e", 5)),
        EpochBegan(observed_at=at(90), reason="the head went back"),
    )

    assert story.operations()[2:] == [
        "epoch-began", "gap-opened", "gap-opened",
    ]  # fmt: skip
    assert story.resume_point(PODS) is None
    assert story.log.epoch == 2


def test_versions_of_a_former_epoch_are_not_those_of_the_new_one() -> None:
    story = Story(
        *watched(),
        EpochBegan(observed_at=at(90), reason="the head went back"),
        a_list(PODS, 5, an_object("a", 3), when=95),
    )

    assert story.summaries("listed") == ["listed a 3", "listed a 3"]
    assert [epoch for epoch, _ in story.log.entries][-1] == 2
    (gap,) = story.gaps()
    assert gap["reason"] == "history rewound"


def refused(resource: object = PODS, digest: str = "ab") -> InputRefused:
    return InputRefused(
        observed_at=at(70),
        resource=resource,  # type: ignore[arg-type]
        head=b"\xff\x00garbage",
        sha256=digest,
        length=200_000_000,
        reason="a frame of 200000000 bytes is too long",
    )


def test_refused_input_says_what_came_and_leaves_a_gap_of_a_moment() -> None:
    story = Story(*watched(), refused())

    document = orjson.loads(story.of("refused")[0].raw)
    assert document["length"] == 200_000_000
    (gap,) = story.gaps()
    assert (gap["from"], gap["to"]) == (
        "2026-11-21T03:01:00.000000Z",
        "2026-11-21T03:01:10.000000Z",
    )


def test_refused_input_that_is_replayed_adds_nothing() -> None:
    story = Story(*watched(), refused())
    before = len(story.drafts)
    story = story.restarted(refused())

    assert len(story.drafts) == before


def test_refused_input_of_no_resource_is_an_entry_alone() -> None:
    story = Story(refused(resource=None))

    assert story.operations() == ["refused"]


def test_a_clock_that_jumps_is_an_entry() -> None:
    story = Story(ClockJumped(observed_at=at(), seconds=-86400.0))

    assert orjson.loads(story.drafts[0].raw) == {"seconds": -86400.0}


def test_a_clock_that_is_set_back_vouches_for_no_future() -> None:
    """A recorder that dies would be missed only when that time has come."""
    story = Story(
        *watched(),
        ClockJumped(observed_at=at(-3600), seconds=-3660.0),
        a_bookmark(PODS, 30, when=-3590),
    )

    assert story.point(PODS).vouched_until == at(-3590)
