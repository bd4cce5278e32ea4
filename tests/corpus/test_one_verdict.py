"""One transition has one verdict: a window chooses which, never how sure."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from recorder.answers.incidents import ask_incidents
from recorder.answers.node_questions import IncidentsQuestion, WhyQuestion
from recorder.answers.ports import Reading
from recorder.answers.why import Why, ask_why
from recorder.explain.knowledge import shipped
from recorder.explain.verdict import Verdict
from recorder.model.document import plain
from recorder.model.window import Window
from tests.corpus.conftest import Corpus
from tests.corpus.logs import names, reading_of
from tests.support.builders import at
from tests.support.sampling import sampled

NOW = at(10_000_000)
LITTLE = timedelta(milliseconds=1)


def windows(verdict: Verdict) -> Sequence[WhyQuestion]:
    """Return questions that a transition answers, whatever else may."""
    effect, inside = verdict.at, verdict.began_at + LITTLE
    return [
        WhyQuestion(
            node=verdict.node, window=Window(), at=max(effect, inside)
        ),
        WhyQuestion(node=verdict.node, window=Window(effect, None)),
    ]


async def differences(reading: Reading) -> AsyncIterator[str]:
    asked = IncidentsQuestion(window=Window())
    found = await ask_incidents(reading, asked, shipped(), now=NOW)
    for verdict in (v for one in found.incidents for v in one.judged):
        for question in windows(verdict):
            why = await ask_why(reading, question, shipped(), now=NOW)
            if said_of(why, verdict) != plain(verdict):
                yield f"{verdict.node} {verdict.id} at {question.at}"
            proven, seen = why.coverage.proven_until, effect_of(verdict)
            if why.coverage.complete and (
                verdict.hiding or (proven is not None and proven < seen)
            ):
                yield f"{verdict.node} {verdict.id}: complete"


def effect_of(verdict: Verdict) -> datetime:
    return verdict.effect.stored.observed_at


def said_of(why: Why, verdict: Verdict) -> Any:
    documents = (plain(one) for one in why.verdicts)
    return next((d for d in documents if d["id"] == verdict.id), None)


@pytest.mark.parametrize("name", sampled("one verdict", names(), 5))
async def test_a_window_chooses_what_is_answered_and_never_how_sure(
    corpus: Corpus, name: str
) -> None:
    dsn, log = corpus.database.dsn("reader"), corpus.logs[name]
    async with reading_of(dsn, log) as reading:
        assert [one async for one in differences(reading)] == []
