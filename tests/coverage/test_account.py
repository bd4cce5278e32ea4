"""One account of a log, and the coverage of any answer that is made of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.facts.coverage.account import Account
from recorder.facts.coverage.coverage import Coverage, cover
from recorder.facts.coverage.hole import Gap
from recorder.facts.coverage.ports import ClockJump, Stream
from recorder.model.reference import EntryName
from recorder.model.window import Window
from tests.coverage.judging import LIVE, NOW, TAPE, a_gap
from tests.support.builders import at

RESOURCES = ("v1/nodes", "v1/pods", "v1/events")
BEGAN, PROVEN = 100, 200
"""All lists are complete before, and all streams vouch until after."""


@st.composite
def streams(draw: st.DrawFn) -> list[Stream]:
    return [
        Stream(
            source="watch",
            resource=resource,
            state="live",
            began_at=at(draw(st.integers(0, BEGAN))),
            vouched_until=at(vouched),
            gap=draw(st.sampled_from([None, a_gap(vouched, None)])),
        )
        for resource in RESOURCES
        for vouched in [draw(st.integers(PROVEN, 310))]
    ]


@st.composite
def gaps(draw: st.DrawFn) -> list[Gap]:
    spans = st.tuples(st.integers(0, 300), st.integers(1, 50))
    return [
        a_gap(begin, begin + length)
        for begin, length in draw(st.lists(spans, max_size=4))
    ]


@st.composite
def jumps(draw: st.DrawFn) -> list[ClockJump]:
    spans = st.tuples(st.integers(0, 300), st.integers(-50, 50))
    return [
        ClockJump(EntryName(1, 9), at(when), seconds)
        for when, seconds in draw(st.lists(spans, max_size=2))
    ]


@st.composite
def accounts(draw: st.DrawFn) -> Account:
    return Account(
        log=draw(st.sampled_from([LIVE, TAPE])),
        streams=draw(streams()),
        window=Window(),
        now=NOW,
        gaps=draw(gaps()),
        jumps=draw(jumps()),
    )


def asked(account: Account, since: int | None, until: int | None) -> Account:
    """Return the account as it is read for a window."""
    window = Window(
        None if since is None else at(since),
        None if until is None else at(until),
    )
    return Account(
        log=account.log,
        streams=account.streams,
        window=window,
        now=account.now,
        gaps=[
            gap
            for gap in account.gaps
            if gap.overlaps(window.since, window.until)
        ],
        jumps=account.jumps,
    )


@given(accounts(), st.integers(0, PROVEN - 1), st.integers(BEGAN, PROVEN))
def test_a_proven_end_costs_the_same_asked_for_or_implied(
    account: Account, since: int, until: int
) -> None:
    if since >= until:
        return
    explicit = cover(asked(account, since, until))
    implied = cover(asked(account, since, None), end=at(until))

    assert implied == explicit


@given(accounts(), st.integers(0, 300))
def test_a_beginning_that_an_answer_names_is_as_one_asked_for(
    account: Account, first: int
) -> None:
    implied = cover(asked(account, None, None), times=[at(first)])
    explicit = cover(asked(account, first, None))

    if implied.since is not None:
        began_later = [
            [hole for hole in one.gaps if "later" in hole.reason]
            for one in (implied, explicit)
        ]
        assert began_later[0] == began_later[1] != []
        assert implied.window == explicit.window
    else:
        assert not any("later" in hole.reason for hole in explicit.gaps)


@given(accounts(), st.integers(0, 300), st.integers(0, 300))
def test_no_window_changes_how_sure_a_verdict_is(
    account: Account, since: int, until: int
) -> None:
    first, last = sorted((since, until))

    for one in (asked(account, first, last + 1), asked(account, None, last)):
        assert one.doubts(*RESOURCES) == account.doubts(*RESOURCES)


@given(accounts())
def test_what_already_counts_is_not_counted_again(account: Account) -> None:
    whole = cover(account)

    assert cover(account, hiding=whole.gaps) == whole


def test_a_coverage_cannot_be_changed() -> None:
    hole = a_gap(1, 2)
    coverage = Coverage.of(Window(at(0), at(9)), gaps=[hole])

    for struct in (coverage, hole):
        for name in type(struct).__struct_fields__:
            with pytest.raises(AttributeError):
                setattr(struct, name, None)
    assert isinstance(coverage.gaps, tuple)
