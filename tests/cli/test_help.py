"""Help loads next to nothing, and says what a tired person needs."""

import subprocess
import sys
from importlib import import_module

import click
import pytest

from recorder.cli.lazy import LazyGroup
from recorder.cli.main import main
from tests.cli.conftest import Recorder

LIGHT = {"click", "recorder"}

AFTER_HELP = f"""
import sys
before = set(sys.modules)
from recorder.cli.main import _run
assert _run(["--help"]) == 0
loaded = sys.modules.keys() - before
found = {{
    name.partition(".")[0]
    for name in loaded
    if "site-packages" in (getattr(sys.modules[name], "__file__", "") or "")
}} - {LIGHT!r}
assert not found, found
"""

AFTER_OPTIONS = """
import sys
from recorder.cli.main import _run
from recorder.answers.registry import QUESTIONS
for question in QUESTIONS.values():
    assert question.arguments
assert _run(["impact", "--help"]) == 0
heavy = {"asyncio", "yaml", "recorder.explain", "recorder.explain.knowledge"}
found = heavy & sys.modules.keys()
assert not found, found
"""


@pytest.mark.parametrize("code", [AFTER_HELP, AFTER_OPTIONS])
def test_help_imports_nothing_heavy(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


def commands(
    group: LazyGroup, words: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    found: list[tuple[tuple[str, ...], click.Command]] = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, LazyGroup):
            found.extend(commands(command, (*words, name)))
        else:
            found.append(((*words, name), command))
    return found


def all_commands() -> list[tuple[tuple[str, ...], click.Command]]:
    assert isinstance(main, LazyGroup)
    return commands(main)


@pytest.mark.parametrize(
    "words", [words for words, _ in all_commands()], ids=" ".join
)
def test_every_command_has_a_help_with_an_example(
    recorder: Recorder, words: tuple[str, ...]
) -> None:
    answer = recorder(*words, "--help")

    assert answer.status == 0
    assert f"Usage: recorder {' '.join(words)}" in answer.out
    assert "Example" in answer.out
    assert f"recorder {words[0]}" in answer.out.partition("Example")[2]
    assert "\\b" not in answer.out
    assert "\n  Exit status: 0 " in answer.out


def test_every_option_has_a_help() -> None:
    for words, command in all_commands():
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, (words, parameter.name)


def test_commands_are_named_in_the_help(recorder: Recorder) -> None:
    answer = recorder("--help")

    for words, _ in all_commands():
        assert f"\n  {words[0]} " in answer.out


def test_no_line_of_a_help_is_cut(recorder: Recorder) -> None:
    for words in {words[:-1] for words, _ in all_commands()}:
        lines = recorder(*words, "--help").out.splitlines()
        cut = [one for one in lines if one.endswith("...")]
        assert all(one.startswith("Usage") for one in cut), cut


def test_the_version_is_shown(recorder: Recorder) -> None:
    version = import_module("recorder").__version__

    assert recorder("--version").out == f"recorder, version {version}\n"


def test_an_unknown_command_names_what_is_near(recorder: Recorder) -> None:
    answer = recorder("statu")

    assert answer.status == 2
    assert "did you mean" in answer.err
    assert '"status"' in answer.err


def test_a_command_that_is_like_nothing_points_to_the_help(
    recorder: Recorder,
) -> None:
    answer = recorder("xyzzy")

    assert answer.status == 2
    assert "see --help" in answer.err
