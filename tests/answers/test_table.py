"""Tables: in full for a pipe, as wide as the terminal for a person."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.answers.text.table import (
    CONFIDENCES,
    Cell,
    Column,
    Kind,
    Table,
    age,
)

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
THEN = datetime(2026, 11, 21, 3, 14, 15, 926535, tzinfo=UTC)
COLUMNS = (
    Column("FROM", Kind.TIME, rank=1),
    Column("AGE", Kind.AGE),
    Column("ID", wide=True),
    Column("CONFIDENCE", colours=CONFIDENCES),
    Column("SUMMARY"),
)
ROW: tuple[Cell, ...] = (THEN, THEN, "1/4", "proven", "gpu-002 rebooted " * 9)


def lines_of(width: int | None, *, wide: bool = False) -> list[str]:
    table = Table(COLUMNS, now=NOW, width=width, wide=wide)
    return [table.header([ROW]), *table.lines([ROW])]


def test_a_pipe_gets_times_and_texts_in_full() -> None:
    header, line = lines_of(None)

    assert header.split() == ["FROM", "AGE", "CONFIDENCE", "SUMMARY"]
    assert line.startswith("2026-11-21T03:14:15.926535Z   3d8h   proven")
    assert line.endswith("gpu-002 rebooted")


def test_wide_is_everything_in_full_on_a_terminal_too() -> None:
    header, line = lines_of(80, wide=True)

    assert "ID" in header.split()
    assert "2026-11-21T03:14:15.926535Z" in line
    assert line.endswith("gpu-002 rebooted")


@given(st.integers(60, 200))
def test_a_line_is_no_wider_than_the_terminal(width: int) -> None:
    assert all(len(line) <= width for line in lines_of(width))


def test_what_weighs_least_gives_way_first() -> None:
    assert "FROM" in lines_of(100)[0]
    assert "FROM" not in lines_of(50)[0]
    assert "AGE" in lines_of(50)[0]


def test_what_no_column_gives_way_to_is_cut() -> None:
    table = Table([Column("OBJECT"), Column("SAYS")], now=NOW, width=80)
    rows = [("event/default/" + "x" * 70, "a text that is longer than it")]

    lines = [table.header(rows), *table.lines(rows)]

    assert all(len(line) <= 80 for line in lines)
    assert lines[1].count("…") == 2


def test_a_time_of_another_year_names_it() -> None:
    table = Table([Column("AT", Kind.TIME), Column("X")], now=NOW, width=80)

    (line,) = table.lines([(THEN.replace(year=2025), "x")])

    assert line.startswith("2025-11-21 03:14:15")


def test_colours_move_no_column() -> None:
    plain = Table(COLUMNS, now=NOW, width=200)
    table = Table(
        COLUMNS, now=NOW, width=200, paint=lambda text, _: f"<{text}>"
    )

    (line,) = table.lines([ROW])

    assert "<proven>" in line
    assert line.replace("<", "").replace(">", "") == plain.lines([ROW])[0]


def test_what_a_log_holds_steers_no_terminal() -> None:
    table = Table([Column("X"), Column("Y")], now=NOW)

    assert "\x1b" not in table.lines([("\x1b[2J", "\x1b]0;x\x07")])[0]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "0s"),
        (59, "59s"),
        (90, "1m30s"),
        (600, "10m"),
        (5400, "1h30m"),
        (86400 * 3 + 3600 * 4, "3d4h"),
        (86400 * 40, "40d"),
        (86400 * 800, "2y70d"),
    ],
)
def test_an_age_is_said_in_two_units_at_most(seconds: int, said: str) -> None:
    assert age(NOW - timedelta(seconds=seconds), NOW) == said
