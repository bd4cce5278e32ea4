"""Progress is for a terminal; a file of it holds what changed."""

import sys

import pytest

from recorder.cli.screen import Screen


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def test_how_far_it_is_goes_to_a_terminal_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    screen = Screen()
    screen.progress("playing", "frame 1")
    screen.clear()
    screen.say("played")

    assert lines(capsys) == ["played"]


def test_elsewhere_a_state_is_printed_when_it_changes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    screen = Screen()
    for state in ("waiting", "waiting", "recording", "recording"):
        screen.state(state, "")

    printed = [line.split()[-1] for line in lines(capsys)]
    assert printed == ["waiting", "recording"]


def test_on_a_terminal_one_line_is_kept_up_to_date(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    screen = Screen()
    screen.progress("playing", "frame 1")
    screen.state("recording", "entry 2")
    shown = capsys.readouterr().err

    assert shown.count("\r") == 2
    assert "\n" not in shown
    assert shown.index("frame 1") < shown.index("entry 2")
