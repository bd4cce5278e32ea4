"""Incidents that are told in memory, played into a log and asked about.

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
from tests.corpus.asking import asked_window
from tests.corpus.judging import Mark, judge_impact, judge_why
from tests.corpus.logs import play, reading_of
from tests.corpus.tape_lines import Lines, write_lines
from tests.corpus.told import Told
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
def told_of(name: str) -> Told:
    return INCIDENTS[name]().told(name)


async def answered(
    reading: Reading, told: Told, question: Question
) -> list[tuple[Mark, str]]:
    """Ask one question; say where the answer is not what is true."""
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
        # When it was back is told without acts, and judged in memory.
        verdicts = [
            replace(verdict, back_in_service=None)
            for verdict in told.truth.verdicts
        ]
        truth = replace(told.truth, verdicts=verdicts)
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
        judged += judge_impact(impact, question, told.truth)
    return [
        (mark, f"{one.about}: {text}")
        for one in judged
        for mark, text in one.misses
    ]


def vouched(told: Told) -> Lines:
    """End a tape as a watch does: with proof that nothing else came."""
    asked = [q.until_at or "" for q in told.truth.questions]
    end = max(*asked, told.tape.frames[-1]["at"])
    heard = {f["resource"] for f in told.tape.frames if "resource" in f}
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
    return Lines(told.tape.header, [*told.tape.frames, *ends])


def test_questions_are_of_every_form() -> None:
    assert CLASSES
    asked = [q for name in ASKED for q in told_of(name).truth.questions]
    assert sum(bool(q.node) for q in asked) >= 30
    assert sum(q.rack is not None for q in asked) >= 5
    assert sum(bool(q.labels) for q in asked) >= 2
    assert sum(not q.verdicts for q in asked) >= 5


@pytest.mark.parametrize("name", sampled("questions", ASKED, PLAYED))
async def test_what_is_asked_of_a_log_is_answered_by_the_truth(
    database: Database, tmp_path: Path, name: str
) -> None:
    told = told_of(name)
    tape = tmp_path / f"{name}.tape.jsonl.zst"
    write_lines(tape, vouched(told))
    log = await play(database.dsn("writer"), tape, name=name)
    async with reading_of(database.dsn("reader"), log) as reading:
        for question in told.truth.questions:
            found = await answered(reading, told, question)
            assert found == [], (question.since_at, question.until_at)


async def test_a_gap_in_what_tells_of_pods_hides_no_return_of_a_node(
    database: Database, tmp_path: Path
) -> None:
    # Its tape ends without proof of any Pods; its Nodes are told to the end.
    name = "a-rack-goes-dark-while-one-is-off-for-repair"
    tape = tmp_path / f"{name}.tape.jsonl.zst"
    told = told_of(name)
    write_lines(tape, told.tape)
    log = await play(database.dsn("writer"), tape, name=name)
    async with reading_of(database.dsn("reader"), log) as reading:
        whole = WhyQuestion(node="gpu-005", window=Window())
        answer = await ask_why(reading, whole, shipped(), now=at(10_000_000))

    assert [verdict.cause for verdict in answer.verdicts] == ["power-loss"]
