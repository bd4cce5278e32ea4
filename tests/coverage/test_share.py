"""How much of a window is vouched for."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.facts.coverage.coverage import Coverage
from recorder.facts.coverage.hole import Hole
from recorder.facts.coverage.share import vouched_share
from recorder.model.window import Window
from tests.support.builders import at

SECONDS = 60


def a_hole(since: datetime | None, until: datetime | None) -> Hole:
    return Hole(
        source="watch",
        resource="v1/nodes",
        since=since,
        until=until,
        reason="relisted",
    )


@given(
    st.lists(
        st.tuples(
            st.integers(-5, SECONDS + 5), st.integers(1, 30)
        )
    )
)  # fmt: skip
def test_every_second_in_no_hole_is_vouched_for(
    spans: list[tuple[int, int]],
) -> None:
    holes = [a_hole(at(begin), at(begin + length)) for begin, length in spans]
    coverage = Coverage.of(Window(at(0), at(SECONDS)), holes=holes)

    share = vouched_share(coverage, [])

    vouched = [
        second
        for second in range(SECONDS)
        if not any(b <= second < b + length for b, length in spans)
    ]
    assert share == pytest.approx(len(vouched) / SECONDS, abs=1e-6)


def test_a_hole_without_ends_leaves_nothing() -> None:
    window = Window(at(0), at(SECONDS))
    coverage = Coverage.of(window, holes=[a_hole(None, None)])

    assert vouched_share(coverage, []) == 0


def test_a_window_without_a_beginning_begins_with_the_record() -> None:
    hole = a_hole(at(30), at(35))
    coverage = Coverage.of(Window(None, at(40)), holes=[hole])

    assert vouched_share(coverage, [at(20), None]) == 0.75
    assert vouched_share(coverage, [None]) is None
