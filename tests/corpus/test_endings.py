"""What ended a workload, of every workload of the corpus."""

from collections.abc import AsyncIterator
from datetime import datetime

import pytest
from msgspec.structs import replace

from recorder.answers.naming import Reference
from recorder.answers.node_questions import (
    WhyWorkloadQuestion,
    WorkloadQuestion,
)
from recorder.answers.nouns import Selection
from recorder.answers.ports import Reading
from recorder.answers.queries import FactListQuery, ObjectNames
from recorder.answers.why_workload import (
    WhyWorkload,
    ask_why_workload,
    why_workload_lines,
)
from recorder.answers.workload import ask_workload
from recorder.explain.ending import Preemptor
from recorder.explain.knowledge import shipped
from recorder.explain.signals.actor import Actor
from recorder.model.fact import FactKind
from recorder.model.facts import Ended
from recorder.model.outcomes import (
    ActorKind,
    EndedBy,
    Happened,
    Outcome,
    WorkloadState,
)
from recorder.model.window import Window
from tests.corpus.conftest import Corpus
from tests.corpus.live.asking import LIVE
from tests.corpus.logs import names, play, reading_of
from tests.support.postgres import Database

KINDS = {"job": ("batch", "Job"), "jobset": ("jobset.x-k8s.io", "JobSet")}
ENDS = {
    Outcome.FAILED,
    Outcome.RESTARTED,
    Outcome.RESCHEDULED,
    Outcome.PREEMPTED,
    Outcome.DOWN,
}


async def asked(
    reading: Reading, name: str, *, at: datetime | None = None
) -> WhyWorkload:
    now = reading.log.recorded_at
    assert now is not None
    question = WhyWorkloadQuestion(
        object=Reference.parse(name), window=Window(), at=at
    )
    return await ask_why_workload(reading, question, shipped(), now=now)


async def workloads(reading: Reading) -> AsyncIterator[WhyWorkload]:
    """Yield the answer about each workload that had Pods."""
    for word, kind in KINDS.items():
        for namespace, name in await reading.names(ObjectNames([kind])):
            found = await asked(reading, f"{word}/{namespace}/{name}")
            if found.workload.kind == kind[1]:
                yield found


@pytest.mark.parametrize("name", names())
async def test_each_pod_that_failed_is_in_one_ending(
    corpus: Corpus, name: str
) -> None:
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs[name]) as reading:
        failed: set[str] = set()
        selection = Selection(kinds=(FactKind.ENDED,))
        async for page in reading.pages(FactListQuery(selection), after=0):
            failed |= {
                one.fact.object.name
                for one in page
                if one.fact.object is not None
                and isinstance(one.fact.detail, Ended)
                and one.fact.detail.phase == "Failed"
            }
        async for found in workloads(reading):
            ended = [
                pod
                for ending in found.endings
                for pod in {*ending.pods, *ending.stopped}
            ]
            begun = f"{found.workload.name}-"
            own = {pod for pod in failed if pod.startswith(begun)}

            assert own <= {*ended}, found.sentence
            assert len(ended) == len({*ended}), found.sentence


@pytest.mark.parametrize("name", names())
async def test_what_hit_a_workload_is_what_ended_it(
    corpus: Corpus, name: str
) -> None:
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs[name]) as reading:
        now = reading.log.recorded_at
        assert now is not None
        async for found in workloads(reading):
            history = await ask_workload(
                reading,
                WorkloadQuestion(
                    object=Reference.parse(found.question.object)
                ),
                shipped(),
                now=now,
            )
            hit = {
                pod
                for one in history.hits
                if one.outcome in ENDS
                for pod in one.pods_hit
            }
            by_nodes = {
                pod
                for ending in found.endings
                if ending.gpu_hours_lost is not None
                or ending.ended_by is EndedBy.CONTAINER_OOM
                for pod in ending.pods
            }

            assert by_nodes == hit, found.sentence
            for ending in found.endings:
                assert ending.evidence, ending.sentence
                if ending.ended_by is EndedBy.NODE_FAILURE:
                    assert ending.verdict is not None


async def test_a_moment_is_answered_with_what_was_last_before_it(
    corpus: Corpus,
) -> None:
    dsn = corpus.database.dsn("reader")
    async with reading_of(dsn, corpus.logs["crash"]) as reading:
        every = await asked(reading, "job/train/llm-pretrain")
        (ending,) = every.endings
        then = await asked(
            reading,
            "job/train/llm-pretrain",
            at=ending.running_again_at,
        )

    assert every.state is WorkloadState.RUNNING
    assert [one.at for one in then.endings] == [ending.at]
    assert every.coverage.complete


GROUPED = (
    "leaderworkerset/serving/deepseek",
    "statefulset/serving/deepseek",
    "statefulset/serving/deepseek-0",
    "pod/serving/deepseek-0-1",
)


async def test_a_group_is_found_by_whichever_owner_is_named(
    database: Database,
) -> None:
    tape = LIVE / "s03_lws_group.tape.jsonl.zst"
    log = await play(database.dsn("writer"), tape, name="lws")

    async with reading_of(database.dsn("reader"), log) as reading:
        answers = [await asked(reading, name) for name in GROUPED]

    (first,) = answers[0].endings
    assert first.outcome is Outcome.RESTARTED
    assert (first.pods, first.stopped) == (["deepseek-0-1"], ["deepseek-0"])
    for answer in answers[1:]:
        (ending,) = answer.endings
        assert (ending.at, ending.pods, ending.stopped) == (
            first.at,
            first.pods,
            first.stopped,
        )


async def test_equal_verdicts_of_a_wide_gang_are_shown_once(
    corpus: Corpus,
) -> None:
    dsn, number = corpus.database.dsn("reader"), corpus.logs
    async with reading_of(dsn, number["rack-loss-jobset"]) as reading:
        found = await asked(reading, "jobset/train/llm")
    (ending,) = found.endings
    assert ending.verdict is not None
    many = [replace(ending.verdict, node=f"node-{n}") for n in range(440)]
    other = replace(ending.verdict, node="other", happened=Happened.REMOVED)
    by = Preemptor(
        kind="Job",
        namespace="prod",
        name="embed",
        pod="embed-0",
        actor=Actor(kind=ActorKind.USER, name="alice"),
    )
    wide = replace(
        ending,
        verdicts=[*many, other],
        nodes=[one.node for one in many],
        node_count=len(many),
        preemptor=by,
    )
    lines = [*why_workload_lines(replace(found, endings=[wide]))]
    text = " ".join(" ".join(lines).split())

    assert text.count("node-9 and 430 more: reboot, abrupt") == 1
    assert text.count("other: removed, abrupt") == 1
    assert text.count("node-9 and 430 more") == 2
    assert "Job prod/embed, Pod embed-0, created by alice" in text
    assert "recorder why node/other --at" in text
