"""Answers of `recorder why NAME`: of a node, or else of a workload or a Pod.

A node has precedence over a workload of the same name.
"""

from collections.abc import Sequence
from datetime import datetime

from recorder.answers import why, why_workload
from recorder.answers.clusters import Away
from recorder.answers.naming import NODE_WORDS
from recorder.answers.node_questions import WhyQuestion, WhyWorkloadQuestion
from recorder.answers.ports import Reading
from recorder.answers.queries import NodeNames
from recorder.answers.text.shown import Text
from recorder.answers.why import Why, ask_why
from recorder.answers.why_workload import WhyWorkload, ask_why_workload
from recorder.explain.knowledge import Knowledge
from recorder.facts.coverage.ports import Log
from recorder.model.reference import written_log

WhyNamed = Why | WhyWorkload


async def ask_why_named(
    reading: Reading,
    question: WhyWorkloadQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> WhyNamed:
    """Explain what happened to a node, or what ended a workload or a Pod.

    Raises:
        NotFoundError: the log has neither of that name.
        ConfigError: several workloads have it.
    """
    if not await _is_node(reading, question):
        return await ask_why_workload(reading, question, knowledge, now=now)
    asked = WhyQuestion(
        node=question.object.name, at=question.at, window=question.window
    )
    return await ask_why(reading, asked, knowledge, now=now)


async def _is_node(reading: Reading, question: WhyWorkloadQuestion) -> bool:
    named = question.object
    if named.namespace is not None:
        return False
    if named.word:
        return named.word.lower() in NODE_WORDS
    return named.name in await reading.names(NodeNames([named.name]))


def shown(
    answer: WhyNamed, question: WhyWorkloadQuestion, *, verbose: bool
) -> Text:
    """Return an answer as `recorder why` prints it."""
    if isinstance(answer, WhyWorkload):
        return why_workload.shown(answer, question, verbose=verbose)
    asked = WhyQuestion(node=question.object.name, window=question.window)
    return why.shown(answer, asked, verbose=verbose)


def shown_each(
    answers: Sequence[tuple[Log, WhyNamed]],
    question: WhyWorkloadQuestion,
    away: Sequence[Away],
    *,
    verbose: bool,
) -> Text:
    """Return the answers of several logs as one text."""
    lines: list[str] = []
    notes: list[str] = []
    for log, answer in answers:
        text = shown(answer, question, verbose=verbose)
        lines += ["", *_head(log), *text.lines]
        notes += text.notes
    return Text(
        document={
            "clusters": [
                {
                    "cluster": log.cluster_name,
                    "log": written_log(log.id),
                    "answer": answer,
                }
                for log, answer in answers
            ],
            "away": [{"cluster": one.cluster, "why": one.why} for one in away],
        },
        lines=lines[1:],
        notes=notes,
        judged=True,
    )


def _head(log: Log) -> Sequence[str]:
    return [f"cluster {log.cluster_name} (log {written_log(log.id)}):"]
