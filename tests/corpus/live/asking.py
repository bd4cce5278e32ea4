"""Asking every question about the live incidents.

Their tapes are played into one database, each into a log of its own, and
asked through `recorder.answers`, as `recorder why` and `recorder impact` do.
"""

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from recorder.answers.impact import ask_impact
from recorder.answers.node_questions import ImpactQuestion, WhyQuestion
from recorder.answers.ports import Reading
from recorder.answers.why import ask_why
from recorder.explain.knowledge import Knowledge, shipped
from recorder.model.document import plain
from recorder.model.window import Window
from tests.corpus.live_judge import (
    Grade,
    Judged,
    Question,
    judge_impact,
    judge_why,
    read_questions,
)
from tests.corpus.logs import play_tapes, reading_of
from tests.support.postgres import Database

__all__ = [
    "LIVE",
    "Graded",
    "ask_live",
    "ask_why_unruled",
    "counted",
    "live_names",
    "play_live",
]

LIVE = Path(__file__).parent


class Graded(NamedTuple):
    """One question of one command, and how it was answered."""

    incident: str
    command: str
    node: str
    judged: Judged

    def __str__(self) -> str:
        grade, reason = self.judged
        where = f"{self.incident} {self.node}"
        return f"{grade:8} {self.command:6} {where} {reason}".rstrip()


def live_names(folder: Path = LIVE) -> list[str]:
    """Return the incidents of a folder."""
    found = folder.glob("*.truth.json")
    return sorted(path.name.removesuffix(".truth.json") for path in found)


async def play_live(
    dsn: str, chosen: Sequence[str], folder: Path = LIVE
) -> dict[str, int]:
    """Play incidents into an empty database; return the log of each."""
    tapes = {name: folder / f"{name}.tape.jsonl.zst" for name in chosen}
    return await play_tapes(dsn, tapes)


async def ask_live(
    database: Database, logs: Mapping[str, int], folder: Path = LIVE
) -> AsyncIterator[Graded]:
    """Ask about incidents by their logs, and judge each answer."""
    for name, log in logs.items():
        questions = read_questions(folder / f"{name}.truth.json")
        async with reading_of(database.dsn("reader"), log) as reading:
            for question in questions:
                why, impact = await _asked(reading, question)
                yield Graded(name, "why", question.node, why)
                yield Graded(name, "impact", question.node, impact)


async def ask_why_unruled(
    database: Database, logs: Mapping[str, int]
) -> AsyncIterator[Graded]:
    """Ask why of incidents by their logs, without any rule."""
    for name, log in logs.items():
        questions = read_questions(LIVE / f"{name}.truth.json")
        async with reading_of(database.dsn("reader"), log) as reading:
            for question in questions:
                why = await _why(reading, question, Knowledge(()))
                yield Graded(name, "why", question.node, why)


async def _why(
    reading: Reading, question: Question, knowledge: Knowledge
) -> Judged:
    since, until = map(datetime.fromisoformat, question.window)
    asked = WhyQuestion(node=question.node, window=Window(since, until))
    why = await ask_why(reading, asked, knowledge, now=until)
    return judge_why(question, plain(why))


async def _asked(
    reading: Reading, question: Question
) -> tuple[Judged, Judged]:
    since, until = map(datetime.fromisoformat, question.window)
    window, node = Window(since, until), question.node
    impact = await ask_impact(
        reading,
        ImpactQuestion(nodes=(node,), rack=None, labels=(), window=window),
        shipped(),
        now=until,
    )
    return (
        await _why(reading, question, shipped()),
        judge_impact(question, plain(impact)),
    )


def counted(found: Sequence[Graded]) -> Counter[Grade]:
    """Count the grades."""
    return Counter(one.judged.grade for one in found)
