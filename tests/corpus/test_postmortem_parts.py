"""A report of several nodes: its phases, factors, action items and links."""

import re
from datetime import datetime

import pytest
from msgspec.structs import replace

from recorder.answers.html import html
from recorder.answers.markdown import markdown
from recorder.answers.node_questions import PostmortemQuestion
from recorder.answers.postmortem import Postmortem, ask_postmortem
from recorder.answers.report import page_of
from recorder.explain.knowledge import shipped
from recorder.model.document import plain
from recorder.model.errors import ConfigError, NotFoundError
from recorder.model.outcomes import EndedBy
from recorder.model.window import Window
from tests.corpus.conftest import Corpus
from tests.corpus.logs import reading_of
from tests.support.builders import at

RACK = "rack-2"
PHASES = ["started", "detected", "decided", "mitigated", "resolved"]


async def ask(
    corpus: Corpus, name: str, subject: str | None, rack: str | None = None
) -> Postmortem:
    question = PostmortemQuestion.about(subject, rack, window=Window())
    async with reading_of(
        corpus.database.dsn("reader"), corpus.logs[name]
    ) as reading:
        return await ask_postmortem(reading, question, shipped(), now=at())


async def test_a_report_shows_what_would_steer_as_signs(
    corpus: Corpus,
) -> None:
    found = await ask(corpus, "rack-loss-jobset", None, rack=RACK)
    rack = "2\x1b[8m\x07\x9b\u202e<b>"
    hostile = replace(
        found,
        subject=f"rack {rack}",
        question=replace(found.question, subject=f"--rack {rack}"),
    )
    for write, tag in ((html, "&lt;b"), (markdown, "\\<b")):
        text = write(hostile)

        assert not set(text) & set("\x1b\x07\x9b\u202e")
        assert f"rack 2␛[8m␇\ufffd\ufffd{tag}" in text.replace("\\[", "[")


async def test_a_rack_is_reported_with_all_its_nodes(corpus: Corpus) -> None:
    found = await ask(corpus, "rack-loss-jobset", None, rack=RACK)

    nodes = found.question.nodes
    assert len(nodes) > 1
    assert {verdict.node for verdict in found.verdicts} == {*nodes}
    assert found.subject == f"rack {RACK}"
    assert f"recorder postmortem --rack {RACK} --since" in markdown(found)


async def test_a_workload_is_reported_by_the_node_that_hit_it(
    corpus: Corpus,
) -> None:
    found = await ask(corpus, "crash-job-fails", "job/train/llm-finetune")

    (hit,) = found.impact.workloads
    assert found.question.nodes == (hit.first_node,)
    assert "`recorder postmortem job/train/llm-finetune --since" in markdown(
        found
    )


@pytest.mark.parametrize("name", ["job/train/eval-suite", "eval-suite"])
async def test_a_workload_that_no_node_hit_is_reported(
    corpus: Corpus, name: str
) -> None:
    found = await ask(corpus, "other-job-failed", name)
    text = markdown(found)
    (ending,) = found.endings
    by_id = await ask(corpus, "other-job-failed", str(ending.id))

    assert not found.verdicts
    assert not found.question.nodes
    assert ending.ended_by is EndedBy.CONTAINER_EXIT
    assert found.summary[0] == ending.sentence
    assert "no incidents" not in text
    assert f"## Disruption: container-exit, {ending.at:%H:%M:%S}" in text
    assert all(str(one.entry) in text for one in ending.evidence)
    assert [one.id for one in by_id.endings] == [ending.id]
    assert f"`recorder postmortem {ending.id} --workload" in markdown(by_id)


async def test_an_incident_goes_through_its_phases_in_time(
    corpus: Corpus,
) -> None:
    for name in corpus.logs:
        async with reading_of(
            corpus.database.dsn("reader"), corpus.logs[name]
        ) as reading:
            question = PostmortemQuestion.about("gpu-002", window=Window())
            try:
                found = await ask_postmortem(
                    reading, question, shipped(), now=at()
                )
            except NotFoundError:
                continue
        parts = plain(found)
        phases = parts["phases"]
        names = [phase["phase"] for phase in phases]
        assert names == [one for one in PHASES if one in names], name
        assert bool(names) == bool(found.verdicts), name
        ends = {one["phase"]: one["at"] for one in phases}
        if ends.get("mitigated") and ends.get("resolved"):
            assert ends["mitigated"] <= ends["resolved"], name
        for phase in phases:
            assert phase["says"], name
            if phase["at"] is not None:
                began = datetime.fromisoformat(phases[0]["at"])
                then = datetime.fromisoformat(phase["at"])
                after = max((then - began).total_seconds(), 0)
                assert phase["after_seconds"] == pytest.approx(after)


async def test_an_action_item_answers_what_was_missing(
    corpus: Corpus,
) -> None:
    found = await ask(corpus, "crash-job-fails", "node/gpu-002")
    items = plain(found)["action_items"]

    lacking = {one.evidence for v in found.verdicts for one in v.missing}
    assert ("audit" in lacking) == any("audit log" in item for item in items)
    assert any("Find the cause on gpu-002" in item for item in items)
    assert "* [ ] Find the cause on gpu-002" in markdown(found)


async def test_entries_link_to_the_page_that_is_named(corpus: Corpus) -> None:
    found = await ask(corpus, "crash-job-fails", "node/gpu-002")
    page = page_of(found, "https://recorder.example.com/")

    (entry, *_) = found.verdicts[0].steps[0].entries
    link = (
        f"https://recorder.example.com/node/gpu-002?log={found.log.id}&entry="
    )
    assert f"[`{entry}`]({link}{entry})" in markdown(found, page=page)
    escaped = link.replace("&", "&amp;")
    assert f'<a href="{escaped}{entry}">' in html(found, page=page)
    assert not re.search(r"\]\(http", markdown(found))


@pytest.mark.parametrize(
    ("subject", "rack"), [(None, None), ("node/gpu-002", "rack-1")]
)
def test_a_report_is_about_one_thing(
    subject: str | None, rack: str | None
) -> None:
    with pytest.raises(ConfigError):
        PostmortemQuestion.about(subject, rack, window=Window())
