"""A report names every gap that a verdict of it rests on."""

import pytest
from msgspec import structs

from recorder.answers.html import html
from recorder.answers.lessons import summary
from recorder.answers.markdown import markdown
from recorder.answers.node_questions import PostmortemQuestion
from recorder.answers.postmortem import Postmortem, _gaps, ask_postmortem
from recorder.explain.knowledge import shipped
from recorder.facts.coverage.coverage import Coverage
from recorder.model.document import plain
from recorder.model.window import Window
from recorder.store.read import LogReading
from tests.corpus.conftest import Corpus
from tests.corpus.logs import reading_of
from tests.support.builders import at


@pytest.mark.parametrize("before", [True, False])
async def test_a_gap_that_a_verdict_rests_on_may_hide_something(
    corpus: Corpus, *, before: bool
) -> None:
    log = corpus.logs["crash-in-gap"]
    async with reading_of(corpus.database.dsn("reader"), log) as reading:
        question = PostmortemQuestion.about("gpu-002", window=Window())
        found = await ask_postmortem(reading, question, shipped(), now=at())
        if before:
            found = await behind_its_gaps(reading, found)

    named = {gap for verdict in found.verdicts for gap in verdict.gaps}
    assert named
    assert {gap.opened for gap in found.verdict_gaps} == named
    shown = plain(found)["verdict_gaps"]
    assert {gap["id"] for gap in shown} == {str(gap) for gap in named}
    for text in (markdown(found), html(found)):
        missing = text.partition("what could not be seen")[2]
        assert all(f"(gap {gap})" in missing for gap in named)
    assert "the record has gaps" in found.summary[2]


async def behind_its_gaps(
    reading: LogReading, found: Postmortem
) -> Postmortem:
    """Return a report of a window that begins when its gaps are over."""
    closed = max(
        gap.until for gap in found.verdict_gaps if gap.until is not None
    )
    window = Window(closed, None)
    impact = structs.replace(found.impact, coverage=Coverage.of(window))
    gaps = await _gaps(reading, found.verdicts, impact.coverage)
    return structs.replace(
        found,
        summary=summary(found.subject, found.verdicts, (), impact, gaps),
        impact=impact,
        coverage=impact.coverage,
        verdict_gaps=gaps,
    )
