"""Incidents that are made in memory, played into a log and asked about.

By node, by window, by rack and by label, as an operator would.
"""

from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from recorder.answers.impact import ask_impact
from recorder.answers.node_questions import ImpactQuestion, WhyQuestion
from recorder.answers.ports import Reading
from recorder.answers.why import ask_why
from recorder.explain.knowledge import shipped
from recorder.model.window import Window
from tests.corpus.answered_tape import AnsweredTape
from tests.corpus.asking import asked_window
from tests.corpus.judging import Mark, judge_impact, judge_why
from tests.corpus.logs import play, reading_of
from tests.corpus.tape_lines import Lines, write_lines
from tests.corpus.truth import Question
from tests.scenarios.telling.classes import CLASSES
from tests.scenarios.telling.registry import INCIDENTS
from tests.support.builders import at
from tests.support.postgres import Database
from tests.support.sampling import sampled

ASKED = [
    name for name, story in sorted(INCIDENTS.items()) if story().is_asked_about
]


PLAYED = 24
"""Of three times as many; all of them are judged in memory."""


@cache
def answered_tape_of(name: str) -> AnsweredTape:
    return INCIDENTS[name]().answered_tape(name)


async def misses_of(
    reading: Reading, answered: AnsweredTape, question: Question
) -> list[tuple[Mark, str]]:
    """Ask a question; return where its answer differs from the truth."""
    window = asked_window(question)
    assert window.until is not None
    judged = []
    if question.node:
        why = await ask_why(
            reading,
            WhyQuestion(node=question.node, window=window),
            shipped(),
            now=window.until,
        )
        # When it was back is known without acts, and judged in memory.
        verdicts = [
            replace(verdict, back_in_service=None)
            for verdict in answered.truth.verdicts
        ]
        truth = replace(answered.truth, verdicts=verdicts)
        judged += judge_why(why, question, truth)
    if question.workloads or not question.node:
        impact = await ask_impact(
            reading,
            ImpactQuestion(
                nodes=(question.node,) if question.node else (),
                rack=question.rack,
                labels=tuple(question.labels.items()),
                window=window,
            ),
            shipped(),
            now=window.until,
        )
        judged += judge_impact(impact, question, answered.truth)
    return [
        (mark, f"{one.about}: {text}")
        for one in judged
        for mark, text in one.misses
    ]


def vouched(answered: AnsweredTape) -> Lines:
    """End a tape as a watch does: with proof that nothing else came."""
    asked = [q.until_at or "" for q in answered.truth.questions]
    end = max(*asked, answered.tape.frames[-1]["at"])
    heard = {f["resource"] for f in answered.tape.frames if "resource" in f}
    ends = [
        {
            "at": end,
            "source": "watch",
            "frame": "closed",
            "resource": resource,
            "reason": "timeout",
        }
        for resource in sorted(heard)
    ]
    return Lines(answered.tape.header, [*answered.tape.frames, *ends])


def test_questions_are_of_every_form() -> None:
    assert CLASSES
    asked = [
        q for name in ASKED for q in answered_tape_of(name).truth.questions
    ]
    assert sum(bool(q.node) for q in asked) >= 30
    assert sum(q.rack is not None for q in asked) >= 5
    assert sum(bool(q.labels) for q in asked) >= 2
    assert sum(not q.verdicts for q in asked) >= 5


@pytest.mark.parametrize("name", sampled("questions", ASKED, PLAYED))
async def test_what_is_asked_of_a_log_is_answered_by_the_truth(
    database: Database, tmp_path: Path, name: str
) -> None:
    answered = answered_tape_of(name)
    tape = tmp_path / f"{name}.tape.jsonl.zst"
    write_lines(tape, vouched(answered))
    log = await play(database.dsn("writer"), tape, name=name)
    async with reading_of(database.dsn("reader"), log) as reading:
        for question in answered.truth.questions:
            found = await misses_of(reading, answered, question)
            assert found == [], (question.since_at, question.until_at)


async def test_a_gap_of_pods_hides_no_return_of_a_node(
    database: Database, tmp_path: Path
) -> None:
    # Its tape ends without proof of any Pods; its Nodes are proven to the end.
    name = "a-rack-goes-dark-while-one-is-off-for-repair"
    tape = tmp_path / f"{name}.tape.jsonl.zst"
    answered = answered_tape_of(name)
    write_lines(tape, answered.tape)
    log = await play(database.dsn("writer"), tape, name=name)
    async with reading_of(database.dsn("reader"), log) as reading:
        whole = WhyQuestion(node="gpu-005", window=Window())
        answer = await ask_why(reading, whole, shipped(), now=at(10_000_000))

    assert [verdict.cause for verdict in answer.verdicts] == ["power-loss"]
