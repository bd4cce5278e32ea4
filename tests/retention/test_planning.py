"""Plans: the oldest first, never too young, never over a hold."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.keeping.retention.planning import AGE, BUDGET, DayState, plan
from recorder.keeping.retention.policy import Policy, PolicyError, read_policy

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
MIDNIGHT = NOW.replace(hour=0)


def day(
    ago: int,
    *,
    archived: bool = True,
    size: int = 10,
    holds: tuple[int, ...] = (),
) -> DayState:
    upper = MIDNIGHT - timedelta(days=ago - 1)
    return DayState(
        name=f"day-{ago}",
        upper=upper,
        archived=archived,
        bytes=size,
        holds=holds,
    )


def names(days: list[DayState], policy: Policy, size: int = 0) -> list[str]:
    found = plan(days, policy, now=NOW, size=size)
    return [one.name for one in found.drops]


def test_a_day_more_than_the_policy_says_is_kept() -> None:
    days = [day(ago) for ago in range(12, 0, -1)]

    assert names(days, Policy()) == ["day-12", "day-11", "day-10", "day-9"]


def test_the_budget_takes_the_oldest_until_it_is_kept() -> None:
    days = [day(ago) for ago in range(5, 0, -1)]
    found = plan(days, Policy(budget=100), now=NOW, size=115)

    assert [(one.name, one.why) for one in found.drops] == [
        ("day-5", BUDGET),
        ("day-4", BUDGET),
    ]
    assert names(days, Policy(budget=100), size=9_000) == [
        "day-5",
        "day-4",
        "day-3",
        "day-2",
    ]


def test_what_stops_a_drop_is_named() -> None:
    held = [day(12), day(11, holds=(3, 4)), day(10)]
    found = plan(held, Policy(), now=NOW, size=0)
    assert [one.why for one in found.drops] == [AGE]
    assert "hold 3, 4" in str(found.stopped_by)

    lacking = [day(12, archived=False), day(11)]
    found = plan(lacking, Policy(), now=NOW, size=0)
    assert found.drops == []
    date = f"{MIDNIGHT - timedelta(days=12):%Y-%m-%d}"
    assert found.stopped_by == f"{date} is not archived yet"
    dropping = Policy(unarchived="drop")
    assert names(lacking, dropping) == ["day-12", "day-11"]


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 50), st.booleans())),
    st.integers(1, 20),
    st.one_of(st.none(), st.integers(0, 500)),
    st.integers(0, 1000),
)
def test_a_plan_is_a_beginning_of_the_days_that_may_go(
    found: list[tuple[bool, int, bool]],
    hot: int,
    budget: int | None,
    size: int,
) -> None:
    days = [
        day(len(found) - place, archived=one[0], size=one[1],
            holds=(1,) if one[2] else ())
        for place, one in enumerate(found)
    ]  # fmt: skip
    policy = Policy(hot=timedelta(days=hot), budget=budget)

    drops = names(days, policy, size)

    assert drops == [one.name for one in days[: len(drops)]]
    for one in days[: len(drops)]:
        assert one.archived
        assert not one.holds
        assert one.upper <= NOW - timedelta(days=1)
    if budget is None:
        for one in days[: len(drops)]:
            assert one.upper <= NOW - policy.hot - timedelta(days=1)


GIVEN = {
    "hot": timedelta(days=7),
    "place": "/archive",
    "unarchived": "keep",
    "budget": None,
}


def test_a_policy_is_read() -> None:
    policy = read_policy(**GIVEN)  # type: ignore[arg-type]
    assert policy.document()["hot_days"] == 7
    assert read_policy(
        **{**GIVEN, "place": "none", "unarchived": "drop"}  # type: ignore[arg-type]
    ) == Policy(unarchived="drop")


@pytest.mark.parametrize(
    "wrong",
    [
        {"hot": timedelta(hours=3)},
        {"unarchived": "maybe"},
        {"place": "none"},
        {"unarchived": "drop"},
        {"budget": 5},
        {"hot": timedelta(days=99_999)},
    ],
)
def test_what_contradicts_itself_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(PolicyError, match="retention_"):
        read_policy(**{**GIVEN, **wrong})  # type: ignore[arg-type]
