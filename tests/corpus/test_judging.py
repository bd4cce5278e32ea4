"""How well incidents are explained, by their truths."""

from typing import Any

import pytest
from msgspec import structs
from msgspec.structs import replace

from recorder.answers.node_questions import WhyQuestion
from recorder.answers.why import Why, ask_why
from recorder.explain.knowledge import shipped
from tests.corpus.asking import Answers, ask_everything, asked_window
from tests.corpus.conftest import Corpus
from tests.corpus.judging import Judged, Mark, judge_why
from tests.corpus.logs import reading_of, truth_of
from tests.corpus.tabling import lines, share_right
from tests.corpus.truth import Truth, read_truth


async def answers_of(corpus: Corpus) -> list[Answers]:
    found = []
    for name, log in corpus.logs.items():
        async with reading_of(corpus.database.dsn("reader"), log) as reading:
            truth = read_truth(truth_of(name))
            found.append(await ask_everything(reading, truth, name=name))
    return found


async def test_incidents_are_explained_and_nothing_is_made_up(
    corpus: Corpus,
) -> None:
    found = await answers_of(corpus)

    every = [judged for answers in found for judged in answers.judged]
    naive = [judged for answers in found for judged in answers.baseline]
    table = "\n".join(lines(found))
    assert [j for j in every if j.mark is not Mark.RIGHT] == [], table
    assert share_right(naive) < share_right(every), table


async def crash_answered(corpus: Corpus) -> tuple[Why, Truth]:
    truth = read_truth(truth_of("kernel-deadlock"))
    question = next(q for q in truth.questions if q.verdicts)
    log = corpus.logs["kernel-deadlock"]
    async with reading_of(corpus.database.dsn("reader"), log) as reading:
        window = asked_window(question)
        assert window.until is not None
        why = await ask_why(
            reading,
            WhyQuestion(node=question.node, window=window),
            shipped(),
            now=window.until,
        )
    return why, truth


def judged(why: Why, truth: Truth) -> list[Judged]:
    question = next(q for q in truth.questions if q.verdicts)
    return judge_why(why, question, truth)


WRONG: dict[str, tuple[dict[str, Any], Mark]] = {
    "another happening, sure": (
        {"happened": "removed", "confidence": "likely"},
        Mark.SURE_AND_WRONG,
    ),
    "another happening, doubted": (
        {"happened": "removed", "confidence": "possible"},
        Mark.WRONG,
    ),
    "a mode that is left open": (
        {"mode": "unknown", "confidence": "likely"},
        Mark.UNKNOWN,
    ),
    "a cause that is left open": (
        {"fault": None, "decision": None, "confidence": "unknown"},
        Mark.UNKNOWN,
    ),
    "another boot": (
        {"boot_id_after": "x", "confidence": "proven"},
        Mark.SURE_AND_WRONG,
    ),
}


@pytest.mark.parametrize("how", WRONG)
async def test_an_answer_is_as_bad_as_its_worst_field(
    corpus: Corpus, how: str
) -> None:
    why, truth = await crash_answered(corpus)
    changes, mark = WRONG[how]
    changed = [structs.replace(verdict, **changes) for verdict in why.verdicts]

    assert {j.mark for j in judged(why, truth)} == {Mark.RIGHT}
    (one,) = judged(replace(why, verdicts=changed), truth)
    assert one.mark is mark


async def test_a_verdict_too_many_and_one_too_few_are_wrong(
    corpus: Corpus,
) -> None:
    why, truth = await crash_answered(corpus)
    twice = replace(why, verdicts=[*why.verdicts, *why.verdicts])

    assert judged(twice, truth)[1].mark >= Mark.WRONG
    (none,) = judged(replace(why, verdicts=[]), truth)
    assert none.mark is Mark.WRONG
