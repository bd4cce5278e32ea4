"""What others write is shown on a terminal, never obeyed by it."""

import shlex
import subprocess
import sys

import pytest

from recorder.answers.text.lines import Columns, escaped


def test_control_characters_become_signs() -> None:
    rows = [["1/1", "\x1b[31mred\x07\x9b0m\u202eback\x7f"]]

    (line,) = Columns(["ENTRY", "SAYS"]).lines(rows)
    assert line == "1/1     ␛[31mred␇\ufffd0m\ufffdback␡"


def test_in_html_they_are_the_same_signs_and_breaks_are_spaces() -> None:
    said = escaped("<b>\x1b]0;x\x07\n\tback\u202e\x7f")

    assert said == "&lt;b&gt;␛]0;x␇  back\ufffd␡"


@pytest.mark.parametrize("on_terminal", [True, False])
def test_recorded_text_is_made_harmless_for_a_terminal_alone(
    *, on_terminal: bool
) -> None:
    """As CSV and -o name write it, where nothing escapes it."""
    said = "a,\x1b]0;x\x07\tb\n\u202ec\n"
    program = f"from recorder.cli.output import write_text as w; w({said!r})"
    command = [sys.executable, "-c", program]
    if on_terminal:
        command = ["script", "-qec", shlex.join(command), "/dev/null"]
    shown = subprocess.run(
        command, capture_output=True, stdin=subprocess.DEVNULL, check=True
    ).stdout.decode()

    if on_terminal:
        assert shown.replace("\r\n", "\n") == "a,␛]0;x␇\tb\n\ufffdc\n"
    else:
        assert shown == said
