"""What is the same for all that happened is made once, not for each."""

from typing import Any

import pytest

from recorder.answers.incidents import ask_incidents
from recorder.answers.node_questions import IncidentsQuestion
from recorder.explain.knowledge import shipped
from recorder.explain.tracks.fleet import Fleet
from recorder.model.window import Window
from tests.corpus.conftest import Corpus
from tests.corpus.logs import reading_of


async def test_the_fleet_is_not_made_anew_for_each_node_that_was_lost(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Fleet] = []

    class Counted(Fleet):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(self)

    monkeypatch.setattr("recorder.answers.loading.fleet.Fleet", Counted)
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs["rack-loss-jobset"]) as reading:
        now = reading.log.recorded_at
        assert now is not None
        question = IncidentsQuestion(window=Window(None, None))
        found = await ask_incidents(reading, question, shipped(), now=now)

    verdicts = [v for one in found.incidents for v in one.judged]
    # Before anything is read, with what was lost, with the places of those
    # that were lost together, and with all places.
    assert len(verdicts) >= 2
    assert len(made) <= 4
