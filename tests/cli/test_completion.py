"""Behind Tab: commands, options, and names that the log holds.

The shells are real ones; kubectl is the one of the test cluster.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from recorder.cli import kubectl
from recorder.cli.main import COMMANDS, main
from tests.cli.conftest import Recorder
from tests.cluster.binaries import built
from tests.support.postgres import Database

PROGRAMS = Path(sys.executable).parent

ASK_BASH = """
eval "$(recorder completion bash)"
COMP_WORDS=({words} "{begun}")
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_recorder_completion recorder
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def in_bash(words: str, begun: str) -> list[str]:
    done = subprocess.run(
        ["bash", "-c", ASK_BASH.format(words=words, begun=begun)],
        env={**os.environ, "PATH": f"{PROGRAMS}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


def from_kubectl(
    capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[list[str], str]:
    """Return what is offered, and the directive."""
    capsys.readouterr()
    kubectl.complete(words)
    *offered, directive = capsys.readouterr().out.splitlines()
    return [line.partition("\t")[0] for line in offered], directive


@pytest.fixture
def prod(story: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log of the cluster, of the two in the story."""
    assert story.name
    monkeypatch.setenv("RECORDER_CLUSTER", "prod")


def test_bash_completes_commands() -> None:
    assert in_bash("recorder", "po") == ["postmortem"]


@pytest.mark.usefixtures("prod")
def test_bash_completes_nodes_of_the_log() -> None:
    offered = in_bash("recorder why", "node/gpu-00")

    assert "node/gpu-002" in offered
    assert all(name.startswith("node/gpu-00") for name in offered)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script_that_asks_this_program(
    recorder: Recorder, shell: str
) -> None:
    answer = recorder("completion", shell)

    assert answer.status == 0
    assert f"_RECORDER_COMPLETE={shell}_complete" in answer.out


def test_an_unknown_shell_is_a_usage_error(recorder: Recorder) -> None:
    answer = recorder("completion", "tcsh")

    assert answer.status == 2
    assert "bash" in answer.err


def test_kubectl_completes_every_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    offered, directive = from_kubectl(capsys, "")

    assert offered == list(COMMANDS)
    assert directive == ":4"


def test_kubectl_leaves_files_to_the_shell(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert from_kubectl(capsys, "tape", "play", "") == ([], ":0")


@pytest.mark.usefixtures("prod")
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("why", ""), "node/gpu-002"),
        (("impact", "node/gpu-001", "node/gpu"), "node/gpu-002"),
        (("show", "no"), "node/gpu-002"),
        (("show", "no/gpu"), "no/gpu-002"),
        (("history", "pod/tr"), "pod/train/llm-0"),
        (("history", "-n", "train", "pod/l"), "pod/llm-0"),
        (("diff", "wd/"), "wd/train/w"),
    ],
)
def test_objects_of_the_log_are_offered(
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    name: str,
) -> None:
    offered, directive = from_kubectl(capsys, *words)

    assert name in offered
    assert all(one.startswith(words[-1]) for one in offered)
    assert directive == ":4"


@pytest.mark.usefixtures("prod")
@pytest.mark.parametrize("begun", ["x/y", "pod/'", "no\x00", "/", "é/ü"])
def test_nonsense_is_offered_nothing(
    capsys: pytest.CaptureFixture[str], begun: str
) -> None:
    assert from_kubectl(capsys, "show", begun) == ([], ":4")


def test_nothing_is_started_for_a_tab(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert from_kubectl(capsys, "why", "node/") == ([], ":4")
    assert list(data.iterdir()) == []


def test_a_database_that_is_away_is_silent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(
        "RECORDER_DATABASE_URL", "postgresql://none@127.0.0.1:1/none"
    )

    assert from_kubectl(capsys, "why", "node/") == ([], ":4")
    assert capsys.readouterr().err == ""


def test_kubectl_finds_the_plugin_and_its_completion(tmp_path: Path) -> None:
    program = tmp_path / "kubectl"
    program.write_text(f'#!/bin/sh\nexec "{built()}" kubectl "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{PROGRAMS}:{os.environ['PATH']}"}

    def run(*words: str) -> str:
        return subprocess.run(
            [program, *words],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert "Usage: kubectl recorder why" in run("recorder", "why", "--help")
    assert "postmortem" in run("__complete", "recorder", "post")


def test_help_speaks_of_the_name_that_was_called() -> None:
    answer = CliRunner().invoke(main, ["why"], prog_name=kubectl.NAME)

    assert "Usage: kubectl recorder why" in answer.output
