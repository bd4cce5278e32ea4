"""One incident has one duration, and one course, in every answer."""

import pytest

from recorder.answers.incidents import Incident, ask_incidents
from recorder.answers.markdown import markdown
from recorder.answers.node_questions import (
    IncidentsQuestion,
    PostmortemQuestion,
)
from recorder.answers.ports import Reading
from recorder.answers.postmortem import ask_postmortem
from recorder.answers.stats import count
from recorder.answers.why import verdict_lines
from recorder.explain.knowledge import shipped
from recorder.explain.sentences import lasts
from recorder.model.outcomes import DurationKind
from recorder.model.window import Window
from tests.corpus.conftest import Corpus
from tests.corpus.logs import names, reading_of
from tests.support.builders import at
from tests.support.sampling import sampled

NOW = at(10_000_000)
SAMPLE = sampled("one duration", names(), 5)


async def incidents_of(reading: Reading) -> list[Incident]:
    asked = IncidentsQuestion(window=Window())
    found = await ask_incidents(reading, asked, shipped(), now=NOW)
    return list(found.incidents)


@pytest.mark.parametrize("name", SAMPLE)
async def test_every_surface_shows_the_duration_of_the_sentence(
    corpus: Corpus, name: str
) -> None:
    dsn, log = corpus.database.dsn("reader"), corpus.logs[name]
    async with reading_of(dsn, log) as reading:
        found = await incidents_of(reading)

    for incident in found:
        first, duration = incident.first, incident.duration
        if duration is None:
            continue
        said = f"{duration.kind} {lasts(duration)}"
        assert f"({said})" in incident.sentence
        shown = " ".join("\n".join(verdict_lines(first)).split())
        assert said in shown.partition(" happened ")[2]
        assert first.duration == duration
        if len(incident.verdicts) == 1:
            counted = count([incident])
            down = duration.kind is DurationKind.DOWN
            longest = (
                counted.longest_down_seconds
                if down
                else counted.longest_away_seconds
            )
            assert longest == counted.mean_down_seconds or not down
            assert longest == round(duration.length.total_seconds(), 3)


@pytest.mark.parametrize("name", SAMPLE)
async def test_what_was_decided_upon_had_been_detected(
    corpus: Corpus, name: str
) -> None:
    dsn, log = corpus.database.dsn("reader"), corpus.logs[name]
    async with reading_of(dsn, log) as reading:
        for incident in await incidents_of(reading):
            question = PostmortemQuestion.about(
                incident.first.id, window=Window()
            )
            made = await ask_postmortem(reading, question, shipped(), now=NOW)
            found = {one.phase: one for one in made.phases}
            detected, decided = found["detected"], found.get("decided")
            if decided is not None and detected.at is not None:
                assert decided.at is not None
                assert detected.at <= decided.at
            text = markdown(made)
            assert "&gt;" not in text
            assert "..\n" not in text
            assert "* [ ]\n" not in text
