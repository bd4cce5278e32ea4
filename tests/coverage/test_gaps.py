"""What gaps and jumps of the clock cost an answer, and how it is said.

How they are read from the log is tested with the store.
"""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.answers.coverage import coverage_lines, grouped
from recorder.facts.coverage.ports import ClockJump, Stream
from recorder.model.document import plain
from recorder.model.reference import EntryName
from tests.coverage.judging import NODES, PODS, CoveredLog, a_gap, judged
from tests.support.builders import at


async def test_an_end_that_was_asked_for_is_taken_literally() -> None:
    coverage = await judged(CoveredLog(PODS), 10, 305)

    assert plain(coverage)["gaps"] == [
        {
            "id": None,
            "source": "watch",
            "resource": "v1/pods",
            "from": "2026-11-21T03:05:00.000000Z",
            "to": "2026-11-21T03:05:05.000000Z",
            "reason": "not confirmed complete",
            "proved": "nothing",
        }
    ]


@pytest.mark.parametrize(
    ("since", "until", "complete"),
    [
        (0, 50, True),
        (0, 51, False),
        (55, 58, False),
        (59, 100, False),
        (60, 100, True),
        (None, None, False),
        (None, 50, True),
        (60, None, True),
    ],
)
async def test_a_gap_costs_where_it_overlaps(
    since: float | None, until: float | None, *, complete: bool
) -> None:
    recorded = CoveredLog(PODS, gaps=[a_gap(50, 60)])

    assert (await judged(recorded, since, until)).complete is complete


async def test_a_healed_gap_costs_nothing() -> None:
    recorded = CoveredLog(PODS, gaps=[a_gap(50, 60, possible="")])

    assert (await judged(recorded)).complete


async def test_a_gap_without_a_beginning_reaches_back_for_ever() -> None:
    recorded = CoveredLog(PODS, gaps=[a_gap(None, 60)])

    assert not (await judged(recorded, 0, 10)).complete
    assert (await judged(recorded, 60, 100)).complete


async def test_a_gap_of_one_moment_is_of_what_came_then() -> None:
    recorded = CoveredLog(PODS, gaps=[a_gap(50, 50)])

    assert (await judged(recorded, 0, 50)).complete
    assert not (await judged(recorded, 50, 60)).complete
    assert (await judged(recorded, 50.1, 60)).complete


async def test_a_gap_of_what_was_not_read_costs_nothing() -> None:
    recorded = CoveredLog(PODS, NODES, gaps=[a_gap(50, 60)])

    coverage = await judged(
        recorded, reads=lambda _, resource: resource == "v1/nodes"
    )

    assert coverage.complete


async def test_an_open_gap_is_reported_once_and_lasts() -> None:
    forbidden = replace(
        PODS, state="forbidden", vouched_until=at(40), gap=a_gap(40, None)
    )
    recorded = CoveredLog(forbidden, NODES)

    coverage = await judged(recorded, now=at(10_000_300))

    assert [gap.opened for gap in coverage.opened] == [EntryName(1, 7)]
    assert [hole.resource for hole in coverage.holes] == ["v1/nodes"]
    assert (await judged(recorded, 0, 40)).complete
    assert not (await judged(recorded, 0, 41)).complete


async def test_an_open_gap_of_what_was_never_listed_is_reported_once() -> None:
    forbidden = replace(
        PODS,
        state="forbidden",
        began_at=None,
        vouched_until=None,
        gap=a_gap(5, None),
    )

    coverage = await judged(CoveredLog(forbidden))

    assert (len(coverage.opened), len(coverage.holes)) == (1, 0)


@pytest.mark.parametrize(
    ("seconds", "since", "until", "complete"),
    [
        # Forward at 100 by 20: nothing was observed from 80 to 100.
        (20, 0, 80, True),
        (20, 0, 81, False),
        (20, 100.5, 200, True),
        (20, None, None, False),
        # Backward at 100 by 20: from 100 to 120 was observed twice.
        (-20, 0, 100, True),
        (-20, 90, 110, False),
        (-20, 121, 200, True),
    ],
)
async def test_a_jump_of_the_clock_is_doubtful(
    seconds: float,
    since: float | None,
    until: float | None,
    *,
    complete: bool,
) -> None:
    recorded = CoveredLog(
        PODS, jumps=[ClockJump(EntryName(1, 9), at(100), seconds)]
    )

    assert (await judged(recorded, since, until)).complete is complete


async def test_more_than_can_be_listed_is_counted() -> None:
    recorded = CoveredLog(PODS, gaps=[a_gap(50, 60)] * 1003)

    document = plain(await judged(recorded))

    assert len(document["gaps"]) == 1000
    assert document["more_gaps"] == 3


async def test_a_dead_recorder_is_said_in_one_line() -> None:
    recorded = CoveredLog(
        PODS,
        replace(NODES, vouched_until=at(290)),
        replace(NODES, resource="v1/namespaces", vouched_until=at(295)),
        replace(NODES, resource="batch/v1/jobs"),
    )

    coverage = await judged(recorded, now=at(9000))

    assert coverage_lines(coverage) == [
        (
            "INCOMPLETE: v1/pods, v1/nodes, v1/namespaces and 1 more from"
            " 2026-11-21T03:04:50.000000Z: not confirmed complete since then:"
            " is the recorder running?"
        )
    ]
    ((hole, resources),) = grouped(coverage.holes)
    assert (hole.until, len(resources)) == (None, 4)


async def test_outages_are_said_one_by_one_up_to_a_few() -> None:
    recorded = CoveredLog(
        PODS, gaps=[a_gap(50 + 20 * n, 60 + 20 * n) for n in range(7)]
    )

    lines = coverage_lines(await judged(recorded))

    assert lines[0] == (
        "INCOMPLETE: v1/pods from 2026-11-21T03:00:50.000000Z to"
        " 2026-11-21T03:01:00.000000Z: watch expired (410) (gap 1/7)"
    )
    assert lines[-1] == "INCOMPLETE: and 2 more: see `recorder gaps`"


async def test_what_is_complete_says_until_when() -> None:
    assert coverage_lines(await judged(CoveredLog(PODS), 0, 300)) == [
        "complete until 2026-11-21T03:05:00.000000Z"
    ]
    assert coverage_lines(await judged(CoveredLog(PODS))) == [
        (
            "complete until 2026-11-21T03:05:10.000000Z, proven until"
            " 2026-11-21T03:05:00.000000Z"
        )
    ]


# A second way to judge: by looking at every half second.

seconds = st.integers(0, 40)
spans = st.tuples(seconds, seconds).map(lambda pair: tuple(sorted(pair)))
wide = spans.filter(lambda span: span[0] < span[1])


@st.composite
def streams(draw: Any) -> Stream:
    began, vouched = draw(spans)
    return replace(PODS, began_at=at(began), vouched_until=at(vouched))


@given(
    stream=streams(),
    spans=st.lists(st.tuples(wide, st.booleans()), max_size=4),
    window=wide,
)
async def test_complete_means_that_every_moment_was_vouched_for(
    stream: Stream,
    spans: list[tuple[tuple[int, int], bool]],
    window: tuple[int, int],
) -> None:
    gaps = [
        a_gap(*span, possible="" if healed else "something")
        for span, healed in spans
    ]

    def is_vouched(half: int) -> bool:
        moment = at(half / 2 + 0.25)
        assert stream.began_at is not None
        assert stream.vouched_until is not None
        return stream.began_at <= moment <= stream.vouched_until and not any(
            gap.since is not None
            and gap.until is not None
            and gap.since < moment < gap.until
            for gap in gaps
            if not gap.healed
        )

    coverage = await judged(CoveredLog(stream, gaps=gaps), *window)

    assert coverage.complete == all(
        is_vouched(half) for half in range(window[0] * 2, window[1] * 2)
    )
