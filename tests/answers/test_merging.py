"""Two halves of a log, put together in its order."""

from collections.abc import AsyncIterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from recorder.answers.queries import once
from recorder.answers.spanning.merging import merged

Place = tuple[int, int]
HALF = st.lists(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 2)), max_size=5),
    max_size=5,
)


async def pages(
    places: Sequence[Sequence[Place]],
) -> AsyncIterator[list[Place]]:
    """Yield places in order, cut into as many pages."""
    flat = iter(sorted({place for page in places for place in page}))
    for page in places:
        yield [place for _, place in zip(page, flat, strict=False)]
    yield list(flat)


@given(HALF, HALF)
async def test_what_both_halves_hold_comes_in_order_and_once(
    first: list[list[Place]], second: list[list[Place]]
) -> None:
    found = [
        place
        async for page in merged(pages(first), pages(second), lambda p: p)
        for place in page
    ]
    assert found == sorted(
        {p for half in (first, second) for q in half for p in q}
    )


def test_the_first_of_a_key_counts() -> None:
    assert once(["a1", "b1", "a2"], lambda text: text[0]) == ["a1", "b1"]
