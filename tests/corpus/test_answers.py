"""Answers are written down the same every time, and differences are found."""

import asyncio
import shutil
from pathlib import Path

import pytest

from tests.corpus.answers import (
    HASHES,
    TAPES,
    differences,
    write_answers,
)
from tests.support.postgres import DatabaseServer

SOME = ("tapes/crash", "scenarios/a-crash-without-a-word")


@pytest.fixture(scope="module")
def written(
    tmp_path_factory: pytest.TempPathFactory, embedded_server: DatabaseServer
) -> Path:
    """The answers about two tapes, written once."""
    folder = tmp_path_factory.mktemp("answers")
    asyncio.run(write_answers(embedded_server, SOME, folder))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


async def test_the_same_code_writes_the_same_bytes(
    written: Path, tmp_path: Path, embedded_server: DatabaseServer
) -> None:
    await write_answers(embedded_server, SOME, tmp_path)

    assert contents(tmp_path) == contents(written)
    assert [*differences(written, tmp_path)] == []


def test_answers_are_those_that_were_written_down(written: Path) -> None:
    """Check two tapes; a change of answers needs the answers of all tapes."""
    known = set((Path(__file__).parent / HASHES).read_text().splitlines())
    _, *found = (written / HASHES).read_text().splitlines()

    assert found
    assert [line for line in found if line not in known] == []


def test_every_tape_is_asked() -> None:
    folders = {name.partition("/")[0] for name in TAPES}

    assert folders == {"tapes", "live", "scenarios"}
    assert set(SOME) < set(TAPES)


def test_every_command_is_asked_about_a_tape(written: Path) -> None:
    hashes = (written / "answers.sha256").read_text()

    for asked in (
        "incidents",
        "page of the fleet",
        "postmortem 1/",
        "why gpu-002\n",
        "why gpu-002, last",
        "why gpu-002 in window 2",
        "impact gpu-002\n",
        "replay gpu-002",
        "page of gpu-002",
    ):
        assert f"  tapes/crash {asked}" in hashes, asked
    text = (written / "answers.txt").read_text()
    assert "gpu-002 rebooted" in text
    assert '"errors"' not in text


def test_an_answer_that_differs_is_shown_with_its_question(
    written: Path, tmp_path: Path
) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(written, changed)
    text = (changed / "answers.txt").read_text()
    question = "tapes/crash why gpu-002"
    head = f"===== {question} =====\n"
    (changed / "answers.txt").write_text(text.replace(head, f"{head}x\n"))
    _, *hashes = (changed / "answers.sha256").read_text().splitlines()
    (changed / "answers.sha256").write_text(
        "\n".join(
            line.replace(line[:12], "0" * 12)
            if line.endswith(f"  {question}")
            else line
            for line in hashes
        )
    )

    gone, differs = differences(written, changed)
    assert gone == "no longer asked: tapes/crash incidents"
    assert differs.startswith(f"differs: {question}\n@@")
    assert "\n+x\n" in differs
    newly, _ = reversed([*differences(changed, written)])
    assert newly == "newly asked: tapes/crash incidents"


def test_hashes_alone_name_what_differs(written: Path, tmp_path: Path) -> None:
    hashes = (written / "answers.sha256").read_text()
    first, _, rest = hashes.partition("\n")
    other = f"{'0' * 12}{first[12:]}\n{rest}"
    (tmp_path / "answers.sha256").write_text(other)

    found = [*differences(tmp_path, written)]

    assert found == ["differs: tapes/crash incidents"]
