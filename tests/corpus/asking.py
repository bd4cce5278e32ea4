"""Asking a played tape every question of its truth."""

from dataclasses import dataclass, field
from datetime import datetime

from recorder.answers.impact import ask_impact
from recorder.answers.node_questions import ImpactQuestion, WhyQuestion
from recorder.answers.nouns import Selection
from recorder.answers.ports import Reading
from recorder.answers.queries import FactListQuery
from recorder.answers.why import ask_why
from recorder.explain.knowledge import shipped
from recorder.model.window import Window
from tests.corpus.baseline import judge_baseline
from tests.corpus.judging import Judged, judge_impact, judge_why
from tests.corpus.truth import Question, Truth

__all__ = ["Answers", "ask_everything", "asked_window"]


@dataclass(slots=True)
class Answers:
    """The judged answers about one tape."""

    name: str
    judged: list[Judged] = field(default_factory=list)
    baseline: list[Judged] = field(default_factory=list)


async def ask_everything(
    reading: Reading, truth: Truth, *, name: str
) -> Answers:
    """Ask a log the questions of its truth, and judge the answers."""
    answers = Answers(name)
    for question in truth.questions:
        window = asked_window(question)
        assert window.until is not None, "every question has an end"
        now = window.until
        why = await ask_why(
            reading,
            WhyQuestion(node=question.node, window=window),
            shipped(),
            now=now,
        )
        impact = await ask_impact(
            reading,
            ImpactQuestion(
                nodes=(question.node,), rack=None, labels=(), window=window
            ),
            shipped(),
            now=now,
        )
        answers.judged += judge_why(why, question, truth)
        answers.judged += judge_impact(
            impact, question, truth, there=await _pods(reading, question.node)
        )
        answers.baseline += await judge_baseline(reading, question, truth)
    return answers


async def _pods(reading: Reading, node: str) -> set[str]:
    """Return the names of all Pods of a node in the log."""
    return {
        stored.fact.object.name
        async for page in reading.pages(
            FactListQuery(Selection(node=node)), after=0
        )
        for stored in page
        if stored.fact.object is not None and stored.fact.object.kind == "Pod"
    }


def asked_window(question: Question) -> Window:
    """Return the window of a question, by the times of its acts."""
    assert question.since_at is not None, "its act was done"
    assert question.until_at is not None, "its act was done"
    return Window(
        datetime.fromisoformat(question.since_at),
        datetime.fromisoformat(question.until_at),
    )
