"""When a version counts as completed. How it is used is in `test_batches`."""

from hypothesis import given
from hypothesis import strategies as st

from recorder.sources.watch.place import Place


def test_a_version_is_completed_by_a_later_one() -> None:
    place = Place("10")
    place.saw("12")
    place.saw("12")
    assert place.completed == "10"

    place.saw("15")
    assert place.completed == "12"


def test_a_bookmark_completes_its_own_version() -> None:
    place = Place("10")
    place.saw("12")
    place.reached("12")

    assert place.completed == "12"


def test_a_replayed_version_completes_nothing() -> None:
    place = Place("10")
    place.saw("12")
    place.begin_again()
    place.saw("12")

    assert place.completed == "10"


def test_longer_numbers_are_higher() -> None:
    place = Place("9")
    place.saw("10")
    place.saw("11")
    place.reached("9")

    assert place.completed == "10"


@given(st.lists(st.integers(1, 20)).map(sorted))
def test_nothing_after_completed_was_seen_whole(versions: list[int]) -> None:
    """Resuming from the completed version replays the last one in full."""
    place = Place("0")
    for version in versions:
        place.saw(str(version))

    last = versions[-1] if versions else 0
    below = [0, *(v for v in versions if v < last)]
    assert place.completed == str(below[-1])
