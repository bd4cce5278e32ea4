"""Write down every answer, and compare what two versions of the code say.

``python -m tests.corpus.answers [--out FOLDER] [NAME...]`` plays every tape
of the corpus, every live one and every held-out story, or those whose names
begin so, each into a database of its own, puts every question, and writes
``answers.txt``, a section for each question, and ``answers.sha256``, a line
for each.

``python -m tests.corpus.answers --compare OLD NEW`` prints how the answers in
two folders differ; of a folder without ``answers.txt``, which of them do.
"""

import argparse
import asyncio
import difflib
import hashlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from recorder.model.settings import Settings
from recorder.wiring.database import roles_sql
from recorder.wiring.reading import open_logs
from tests.conftest import TEMPLATE, migrated
from tests.corpus.asking import asked_window
from tests.corpus.live.asking import LIVE, live_names
from tests.corpus.live_judge import read_questions
from tests.corpus.logs import names, play, tape_of, truth_of
from tests.corpus.questions import Answer, Span, answers_of
from tests.corpus.tape_lines import write_lines
from tests.corpus.truth import Truth, read_truth
from tests.scenarios.telling.classes import CLASSES
from tests.scenarios.telling.registry import INCIDENTS
from tests.support.postgres import (
    DatabaseServer,
    fresh_database,
    make_template,
    start_embedded,
)

__all__ = ["TAPES", "answered", "differences", "write_answers"]

OUT = Path("build/answers")
TEXT, HASHES = "answers.txt", "answers.sha256"
HEAD, TAIL = "===== ", " =====\n"
"""Around the name of a question, above its answer."""

DIGITS = 12
"""Of a hash: enough to distinguish two answers, few enough to keep."""

AT_ONCE = 4
"""Tapes that are played at a time: each waits for its database."""

NOWHERE = "/nonexistent"


class _Tape(NamedTuple):
    """A tape, and the questions of its truth."""

    path: Path
    spans: Sequence[Span]
    briefly: bool = False


Prepare = Callable[[str, Path], _Tape]
"""Finds a tape by its name, or makes it in a folder."""


def _of_corpus(name: str, _: Path) -> _Tape:
    return _Tape(tape_of(name), _spans(read_truth(truth_of(name))))


def _of_live(name: str, _: Path) -> _Tape:
    questions = read_questions(LIVE / f"{name}.truth.json")
    spans = [
        Span(one.node, *map(datetime.fromisoformat, one.window))
        for one in questions
    ]
    return _Tape(LIVE / f"{name}.tape.jsonl.zst", spans)


def _of_story(name: str, folder: Path) -> _Tape:
    answered = INCIDENTS[name]().answered_tape(name)
    path = folder / f"{name}.tape.jsonl.zst"
    write_lines(path, answered.tape)
    return _Tape(path, _spans(answered.truth), briefly=True)


def _spans(truth: Truth) -> list[Span]:
    """Return the questions of a truth about nodes that it names."""
    found = []
    for question in truth.questions:
        window = asked_window(question)
        assert window.since is not None, "every question has a beginning"
        assert window.until is not None, "every question has an end"
        if question.node:
            found.append(Span(question.node, window.since, window.until))
    return found


assert CLASSES, "their import is what makes stories known"

TAPES: dict[str, Prepare] = {
    **{f"tapes/{name}": _of_corpus for name in names()},
    **{f"live/{name}": _of_live for name in live_names()},
    **{f"scenarios/{name}": _of_story for name in sorted(INCIDENTS)},
}
"""Every tape by the folder that it is of and its name, in order."""


async def answered(server: DatabaseServer, tape: str) -> list[Answer]:
    """Play a tape as the only log of a database, and ask everything."""
    with tempfile.TemporaryDirectory(prefix="recorder-answers-") as folder:
        name = tape.partition("/")[2]
        path, spans, briefly = TAPES[tape](name, Path(folder))
        async with fresh_database(server, TEMPLATE) as database:
            assert await play(database.dsn("writer"), path, name=name) == 1
            settings = Settings(
                database_url=database.dsn("reader"),
                data_dir=Path(NOWHERE),
                kubeconfig=NOWHERE,
            )
            async with open_logs(settings) as logs:
                return [
                    Answer(f"{tape} {one.question}", one.text)
                    async for one in answers_of(logs, spans, briefly=briefly)
                ]


async def write_answers(
    server: DatabaseServer, tapes: Sequence[str], out: Path
) -> None:
    """Write the answers of tapes into a folder, and print the progress."""
    with (out / TEXT).open("w") as text, (out / HASHES).open("w") as hashes:
        for first in range(0, len(tapes), AT_ONCE):
            some = tapes[first : first + AT_ONCE]
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(answered(server, t)) for t in some]
            for tape, task in zip(some, tasks, strict=True):
                for question, answer in task.result():
                    assert HEAD not in answer, question
                    text.write(f"{HEAD}{question}{TAIL}{answer.rstrip()}\n\n")
                    digest = hashlib.sha256(answer.encode()).hexdigest()
                    hashes.write(f"{digest[:DIGITS]}  {question}\n")
                print(f"{tape}: {len(task.result())}", flush=True)


def differences(old: Path, new: Path) -> Iterator[str]:
    """Yield the questions whose answers differ in two folders, with diffs."""
    before, after = _hashes(old), _hashes(new)
    texts = _texts(old), _texts(new)
    for question in [*before, *(q for q in after if q not in before)]:
        if question not in after:
            yield f"no longer asked: {question}"
        elif question not in before:
            yield f"newly asked: {question}"
        elif before[question] != after[question]:
            left, right = (text.get(question, "") for text in texts)
            changed = difflib.unified_diff(
                left.splitlines(), right.splitlines(), lineterm="", n=2
            )
            said = [*changed][2:] if left and right else []
            yield "\n".join([f"differs: {question}", *said])


def _hashes(folder: Path) -> dict[str, str]:
    found = (folder / HASHES).read_text().splitlines()
    parted = (line.partition("  ") for line in found)
    return {question: digest for digest, _, question in parted}


def _texts(folder: Path) -> dict[str, str]:
    if not (folder / TEXT).exists():
        return {}
    sections = (folder / TEXT).read_text().split(HEAD)[1:]
    parted = (section.partition(TAIL) for section in sections)
    return {question: text for question, _, text in parted}


def main() -> int:
    """Write the answers, or compare."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.answers")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FOLDER")
    parser.add_argument(
        "--compare", nargs=2, type=Path, metavar=("OLD", "NEW")
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    if given.compare:
        found = [*differences(*given.compare)]
        print(*found, f"{len(found)} questions differ", sep="\n")
        return 1 if found else 0
    begun = tuple(given.names) or ("",)
    chosen = [name for name in TAPES if name.startswith(begun)]

    async def write(server: DatabaseServer) -> None:
        await make_template(server, TEMPLATE, migrated)
        await write_answers(server, chosen, given.out)

    given.out.mkdir(parents=True, exist_ok=True)
    with start_embedded(roles_sql()) as server:
        asyncio.run(write(server))
    return 0


if __name__ == "__main__":
    sys.exit(main())
