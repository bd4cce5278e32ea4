"""What a walk may request."""

import pytest

from recorder.sources.watch.past import (
    LISTED_BYTES,
    Allowance,
    Minute,
    WalkEndedError,
)


def test_a_minute_fills_evenly_and_waits_for_what_it_owes() -> None:
    now = 0.0
    minute = Minute(60, 6_000, lambda: now)
    assert [minute.take() for _ in range(60)] == [0.0] * 60
    assert minute.take() == pytest.approx(1.0)
    now = 1.0
    assert minute.take() == 0.0
    minute.pay(9_000)
    now = 10.0
    assert minute.take() == pytest.approx(20.01 + 1.0, abs=1.1)
    now = 32.0
    assert minute.take() == 0.0


def test_an_allowance_says_of_how_many_lists_it_has_the_bytes() -> None:
    size = 6 * 100 * LISTED_BYTES
    minute = Minute(60, 2 * size, lambda: 0.0)
    allowance = Allowance(60, size, 10.0, lambda: 0.0, minute)

    assert allowance.lists(100) == 6
    assert allowance.lists(0) == 600
    for left in (5, 4, 3, 2, 1, 0):
        allowance.pay(100 * LISTED_BYTES)
        assert allowance.lists(100) == left
    with pytest.raises(WalkEndedError, match="its bytes were used"):
        allowance.pay(1)
