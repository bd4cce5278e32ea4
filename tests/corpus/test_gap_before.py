"""A gap before a window counts for what began in it."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from recorder.answers.node_questions import WhyQuestion
from recorder.answers.why import Why, ask_why, verdict_lines
from recorder.explain.knowledge import shipped
from recorder.explain.verdict import Verdict
from recorder.facts.coverage.hole import Gap
from recorder.model.window import Window
from recorder.store.read import LogReading
from tests.corpus.conftest import Corpus
from tests.corpus.logs import reading_of
from tests.coverage.judging import a_gap


async def asked(reading: LogReading, since: datetime | None) -> Why:
    now = reading.log.recorded_at
    assert now is not None
    return await ask_why(
        reading,
        WhyQuestion(node="gpu-002", window=Window(since, None)),
        shipped(),
        now=now,
    )


async def test_what_a_gap_may_hide_leaves_the_mode_open_in_a_later_window(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = corpus.logs["crash"]
    async with reading_of(corpus.database.dsn("reader"), log) as reading:
        verdict: Verdict
        (verdict,) = (await asked(reading, None)).verdicts
        effect = verdict.effect.stored.observed_at
        since = effect - timedelta(seconds=1)
        hidden = replace(
            a_gap(0, 1),
            since=verdict.began_at + timedelta(seconds=1),
            until=since - timedelta(seconds=1),
        )

        async def gaps(since: datetime | None) -> AsyncIterator[Gap]:
            del since
            yield hidden

        (sure,) = (await asked(reading, since)).verdicts
        monkeypatch.setattr(reading, "gaps", gaps)
        doubted = await asked(reading, since)

    assert (verdict.mode, sure.mode) == ("abrupt", "abrupt")
    assert [v.mode for v in doubted.verdicts] == ["unknown"]
    assert [v.gaps for v in doubted.verdicts] == [[hidden.opened]]
    assert f"gap      {hidden.opened}: " in "\n".join(
        verdict_lines(doubted.verdicts[0])
    )
    assert sure.gaps == []
    assert doubted.coverage.opened == [hidden]
