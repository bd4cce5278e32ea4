"""What others write is shown to a terminal, never told to it."""

from recorder.render.text import Columns


def test_control_characters_become_signs() -> None:
    rows = [["1/1", "\x1b[31mred\x07\x9b0m\u202eback\x7f"]]

    (line,) = Columns(["ENTRY", "SAYS"]).lines(rows)
    assert line == "1/1     ␛[31mred␇\ufffd0m\ufffdback␡"
