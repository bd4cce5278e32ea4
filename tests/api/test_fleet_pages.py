"""Merging what logs hold: each thing once, whichever is away meanwhile."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from api.resolvers.answers.paging import Item, Page, Part, Turn, cut, merged
from api.resolvers.cursors import Order

BEGAN = datetime(2026, 11, 21, tzinfo=UTC)
NAMES = ("a:1", "b:1", "b:2", "c:9")

Log = list[Item[str]]


@st.composite
def fleets(draw: st.DrawFn) -> dict[str, Log]:
    """Logs, each in the order of its positions; ties between them too."""
    found = {}
    for name in NAMES:
        steps = draw(st.lists(st.integers(0, 2), max_size=8))
        at = 0
        log: Log = []
        for position, step in enumerate(steps, 1):
            at += step
            moment = BEGAN + timedelta(seconds=at)
            log.append(Item(moment, (at, position), f"{name}/{position}"))
        found[name] = log
    return found


def ask(turn: Turn, name: str, log: Log) -> Part[str]:
    """Return the part of a page that a log has."""
    return cut(turn.bounds(name), log, turn.page)


def turn_of(size: int, cursor: str | None, *, forward: bool) -> Turn:
    page = Page(
        size=size,
        forward=forward,
        after=cursor if forward else None,
        before=None if forward else cursor,
    )
    return Turn(Order.INCIDENTS, page, fleet=True)


@given(fleets(), st.integers(1, 9), st.booleans())
def test_pages_are_the_sorted_union(
    fleet: dict[str, Log],
    size: int,
    forward: bool,  # noqa: FBT001 - drawn
) -> None:
    expected = [
        item.node
        for _, item in sorted(
            ((name, item) for name, log in fleet.items() for item in log),
            key=lambda one: (one[1].at, one[0], one[1].spot),
        )
    ]
    gathered: list[str] = []
    cursor, more = None, True
    while more:
        turn = turn_of(size, cursor, forward=forward)
        found = merged(
            turn, {n: ask(turn, n, log) for n, log in fleet.items()}
        )
        page = found.nodes
        gathered = [*gathered, *page] if forward else [*page, *gathered]
        info = found.info
        more = info.has_next_page if forward else info.has_previous_page
        cursor = info.end_cursor if forward else info.start_cursor
        assert len(page) == size or not more
    assert gathered == expected


@given(
    fleets(),
    st.lists(
        st.tuples(st.integers(1, 5), st.sets(st.sampled_from(NAMES))),
        max_size=6,
    ),
    st.booleans(),
)
def test_who_is_away_for_some_pages_comes_once_and_in_order(
    fleet: dict[str, Log],
    turns: list[tuple[int, set[str]]],
    forward: bool,  # noqa: FBT001 - drawn
) -> None:
    gathered: list[str] = []
    cursor = None
    for size, away in [*turns, *[(3, set[str]())] * 12]:
        turn = turn_of(size, cursor, forward=forward)
        there = {
            name: ask(turn, name, log)
            for name, log in fleet.items()
            if name not in away
        }
        found = merged(turn, there)
        page = found.nodes
        gathered = [*gathered, *page] if forward else [*page, *gathered]
        info = found.info
        cursor = (info.end_cursor if forward else info.start_cursor) or cursor

    for name, log in fleet.items():
        assert [one for one in gathered if one.startswith(f"{name}/")] == [
            item.node for item in log
        ]


@given(fleets(), st.integers(1, 30), st.data())
def test_any_cursor_leads_both_ways(
    fleet: dict[str, Log], size: int, data: st.DataObject
) -> None:
    turn = turn_of(size, None, forward=data.draw(st.booleans()))
    whole = turn_of(500, None, forward=True)
    every = [
        item.node
        for _, item in merged(
            whole, {n: ask(whole, n, log) for n, log in fleet.items()}
        ).items
    ]
    found = merged(turn, {n: ask(turn, n, log) for n, log in fleet.items()})
    if not found.items:
        return
    place = data.draw(st.integers(0, len(found.items) - 1))
    here = every.index(found.nodes[place])
    cursors = [cursor for cursor, _, _ in found.rows()]
    for forward in (True, False):
        again = turn_of(500, cursors[place], forward=forward)
        gathered = [
            item.node
            for _, item in merged(
                again, {n: ask(again, n, log) for n, log in fleet.items()}
            ).items
        ]
        assert gathered == (every[here + 1 :] if forward else every[:here])
