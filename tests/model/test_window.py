"""Times as people write them; what cannot be is refused with its reason."""

import contextlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.model.moment import written
from recorder.model.window import TimeError, Window, parse_time

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def parsed(text: str) -> datetime:
    return parse_time(text, now=NOW, name="--since")


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-11-21T03:18:00Z", datetime(2026, 11, 21, 3, 18, tzinfo=UTC)),
        ("2026-11-21t03:18:00z", datetime(2026, 11, 21, 3, 18, tzinfo=UTC)),
        ("2026-11-21 03:18:00Z", datetime(2026, 11, 21, 3, 18, tzinfo=UTC)),
        (
            "2026-11-21T03:18:00.5+02:00",
            datetime(2026, 11, 21, 1, 18, 0, 500_000, tzinfo=UTC),
        ),
        (
            "2026-11-21T03:18:00.123456789Z",
            datetime(2026, 11, 21, 3, 18, 0, 123_456, tzinfo=UTC),
        ),
        ("90s", NOW - timedelta(seconds=90)),
        ("2h", NOW - timedelta(hours=2)),
        ("-2h", NOW - timedelta(hours=2)),
        ("3d", NOW - timedelta(days=3)),
        ("1h30m", NOW - timedelta(minutes=90)),
        ("1.5h", NOW - timedelta(minutes=90)),
        (" 2h ", NOW - timedelta(hours=2)),
        ("0s", NOW),
    ],
)
def test_a_time_is_read(text: str, time: datetime) -> None:
    assert parsed(text) == time


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2026-11-21T03:18:00", "no time zone"),
        ("2026-11-21", "not a time"),
        ("yesterday", "not a time"),
        ("2", "not a time"),
        ("2 h", "not a time"),
        ("2y", "not a time"),
        ("", "not a time"),
        ("20261121T031800Z", "not a time"),
        ("2026-02-30T00:00:00Z", "no such time"),
        ("2026-11-21T25:00:00Z", "no such time"),
        ("2026-11-21T03:18:60Z", "no such time"),
        ("2026-11-21T03:18:00+99:00", "no such time"),
        ("0001-01-01T00:00:00+23:59", "no such time"),
        ("999999999d", "too far in the past"),
        ("9999999d", "too far in the past"),
    ],
)
def test_what_is_no_time_is_refused_with_the_reason(
    text: str, why: str
) -> None:
    with pytest.raises(TimeError, match=why) as caught:
        parsed(text)

    assert caught.value.exit_status == 2
    assert f'--since "{text}"' in str(caught.value)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("03:10", datetime(2026, 11, 21, 3, 10, tzinfo=UTC)),
        ("3:10", datetime(2026, 11, 21, 3, 10, tzinfo=UTC)),
        ("12:00", NOW),
        ("12:01", datetime(2026, 11, 20, 12, 1, tzinfo=UTC)),
        ("23:59:30", datetime(2026, 11, 20, 23, 59, 30, tzinfo=UTC)),
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("2026-11-20 00:07", datetime(2026, 11, 20, 0, 7, tzinfo=UTC)),
        ("2026-11-20T00:07", datetime(2026, 11, 20, 0, 7, tzinfo=UTC)),
        ("2026-11-20 00:07:30", datetime(2026, 11, 20, 0, 7, 30, tzinfo=UTC)),
        ("yesterday", datetime(2026, 11, 20, tzinfo=UTC)),
        ("Today", datetime(2026, 11, 21, tzinfo=UTC)),
    ],
)
def test_a_short_time_is_utc_and_a_note_says_which(
    text: str, time: datetime
) -> None:
    said: list[str] = []

    read = parse_time(text, now=NOW, name="--since", assumed=said.append)

    assert read == time
    assert said == [f'--since "{text}" is taken as {written(time)} (UTC)']


@pytest.mark.parametrize("text", ["24:00", "03:60", "noon", "2026-11", "1:2"])
def test_a_short_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(TimeError, match="03:10, 2026-11-21 and yesterday"):
        parse_time(text, now=NOW, name="--since", assumed=lambda _: None)


def test_a_day_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TimeError, match="no such time"):
        parse_time("2026-02-30", now=NOW, name="--at", assumed=lambda _: None)


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_written_time_is_read_back(time: datetime) -> None:
    assert parsed(written(time)) == time


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(TimeError):
        assert parsed(text).tzinfo is not None


def window(since: str | None, until: str | None) -> Window:
    return Window.between(
        parsed(since) if since else None,
        parsed(until) if until else None,
        now=NOW,
    )


def test_a_window_without_ends_is_everything() -> None:
    assert window(None, None) == Window(None, None)


def test_ages_and_times_mix() -> None:
    assert window("2h", "2026-11-21T11:30:00Z") == Window(
        NOW - timedelta(hours=2), NOW - timedelta(minutes=30)
    )


@pytest.mark.parametrize(
    ("since", "until", "why"),
    [
        ("1h", "2h", "not before its end"),
        ("2h", "2h", "not before its end"),
        ("2026-11-21T13:00:00Z", None, "in the future"),
    ],
)
def test_an_impossible_window_is_refused(
    since: str, until: str | None, why: str
) -> None:
    with pytest.raises(TimeError, match=why):
        window(since, until)


def test_an_end_in_the_future_is_taken_literally() -> None:
    end = datetime(2026, 11, 22, tzinfo=UTC)

    assert window("1h", written(end)).until == end
