"""Gangs of seven kinds, as their operators write them.

The recording of the laboratory is asked every question about workloads. Its
truth was written by the acts, while they were done.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from recorder.answers.job_questions import JobFilter, JobsQuestion
from recorder.answers.jobs import ask_disruptions, ask_jobs
from recorder.answers.log_questions import ObjectsQuestion
from recorder.answers.naming import Reference
from recorder.answers.node_questions import (
    GroupBy,
    PostmortemQuestion,
    StatsQuestion,
    WhyWorkloadQuestion,
)
from recorder.answers.objects import ask_objects
from recorder.answers.ports import Reading
from recorder.answers.postmortem import ask_postmortem
from recorder.answers.stats import ask_stats
from recorder.answers.why_workload import WhyWorkload, ask_why_workload
from recorder.explain.knowledge import shipped
from recorder.model.outcomes import EndedBy
from recorder.model.reference import EntryName
from recorder.model.window import Window
from recorder.store.outbox import outbox
from tests.api.serving import served_by
from tests.conftest import TEMPLATE
from tests.corpus.gangs.judging import meant, problems
from tests.corpus.gangs.laboratory import (
    TAPE,
    Expected,
    Truth,
    make,
    read_truth,
)
from tests.corpus.gangs.manifests import APIS
from tests.corpus.logs import play, reading_of, tape_of
from tests.notification.building import a_rule, following_of, messages_in
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer, fresh_database
from tests.support.sampling import sampled

EVER: Final = Window(None, None)
RULES: Final = shipped()
TRUTH: Final = read_truth()

BY_GRAPHQL: Final = """{
  workloads(first: 100) { nodes { kind name lastEnding { endedBy } }
    facets { facet words { word count } } }
  disruptions(first: 100) { nodes {
    workload { kind namespace name } ending { id endedBy } } }
}"""


@pytest.fixture(scope="module")
def played(embedded_server: DatabaseServer) -> Iterator[Database]:
    async def fill(writer: str) -> None:
        assert await play(writer, TAPE, name="gangs") == 1

    with filled_database(embedded_server, fill) as database:
        yield database


@pytest.fixture
async def reading(played: Database) -> AsyncIterator[Reading]:
    async with reading_of(played.dsn("reader"), 1) as opened:
        yield opened


def end_of(reading: Reading) -> datetime:
    assert reading.log.recorded_at is not None
    return reading.log.recorded_at


async def why(reading: Reading, workload: str) -> WhyWorkload:
    question = WhyWorkloadQuestion(
        object=Reference.parse(workload), window=EVER, at=None
    )
    return await ask_why_workload(
        reading, question, RULES, now=end_of(reading)
    )


def acts_of(workload: str, truth: Truth) -> list[Expected]:
    return [one for one in truth.expected if one.workload == workload]


async def judged(reading: Reading, truth: Truth) -> list[str]:
    """Return what is answered wrongly about any act, in words."""
    found = []
    for workload in sorted({one.workload for one in truth.expected}):
        endings = (await why(reading, workload)).endings
        explained: set[EntryName] = set()
        for act in acts_of(workload, truth):
            explained.update(one.id for one in meant(act, endings))
            found += [
                f"{workload}, {act.act}: {says}"
                for says in problems(act, endings)
            ]
        found += [
            f"{workload}: {one.ended_by} at {one.at}, of no act"
            for one in endings
            if one.id not in explained
        ]
    return found


async def test_what_ended_each_gang_is_what_was_done(reading: Reading) -> None:
    assert await judged(reading, TRUTH) == []


async def test_every_kind_and_every_act_was_played() -> None:
    kinds = {kind.lower() for kind in APIS}
    assert {one.workload.partition("/")[0] for one in TRUTH.expected} == kinds
    assert Counter(one.act for one in TRUTH.expected) == {
        "completion": 5,
        "crash": 7,
        "drain": 6,
        "preemption": 7,
        "suspension": 6,
        "exit": 7,
        "deletion": 1,
    }


async def test_lists_and_graphql_agree_with_why(
    reading: Reading, played: Database
) -> None:
    now = end_of(reading)
    question = JobsQuestion(window=EVER)
    jobs = await ask_jobs(reading, question, RULES, now=now)
    listed = await ask_disruptions(reading, question, RULES, now=now)
    async with served_by(played.dsn("reader")) as client:
        found = await client.ask(BY_GRAPHQL)

    shown = {
        (one["kind"], one["name"]): one["lastEnding"]
        for one in found["workloads"]["nodes"]
    }
    assert {name for _, name in shown} == {
        one.name for one in jobs.workloads
    } == {
        *(one.workload.rpartition("/")[2] for one in TRUTH.expected),
        "urgent",
    }  # fmt: skip
    ids = {node["ending"]["id"] for node in found["disruptions"]["nodes"]}
    assert ids == {str(one.ending.id) for one in listed.disruptions}
    for row in jobs.workloads:
        answer = await why(reading, f"{row.kind}/train/{row.name}".lower())
        assert row.state == answer.state
        assert row.endings == len(answer.endings)
        last = shown[row.kind, row.name]
        assert row.last_ending is not None
        assert last["endedBy"] == row.last_ending.ended_by.name
        disrupted = {
            str(one.id)
            for one in answer.endings
            if one.ended_by is not EndedBy.COMPLETION
        }
        assert disrupted <= ids


async def test_a_report_is_made_of_each_act(reading: Reading) -> None:
    of_act = {one.act: one for one in TRUTH.expected}
    for act, expected in of_act.items():
        (ending,) = meant(
            expected, (await why(reading, expected.workload)).endings
        )
        report = await ask_postmortem(
            reading,
            PostmortemQuestion(ending=ending.id, window=EVER),
            RULES,
            now=end_of(reading),
        )
        name = expected.workload.rpartition("/")[2]
        assert any(name in line for line in report.summary), act
        if act in {"crash", "drain"}:
            assert {v.node for v in report.verdicts} >= {*expected.nodes}


async def test_gangs_are_counted_by_user_queue_and_priority(
    reading: Reading, played: Database
) -> None:
    by = (GroupBy.USER, GroupBy.QUEUE, GroupBy.PRIORITY)
    answer = await ask_stats(
        reading,
        StatsQuestion(by=by, window=EVER),
        RULES,
        now=end_of(reading),
    )
    assert answer.reliability is not None
    keys: dict[Any, dict[str | None, int]] = {
        one.by: {group.key: group.workloads for group in one.groups}
        for one in answer.reliability  # type: ignore[union-attr]
    }
    assert {*keys[GroupBy.USER]} >= {"bob@example.com"}
    assert keys[GroupBy.QUEUE]["gpus"] == 8
    assert keys[GroupBy.PRIORITY]["low"] == 7
    assert keys[GroupBy.PRIORITY]["high"] == 1
    async with served_by(played.dsn("reader")) as client:
        found = (await client.ask(BY_GRAPHQL))["workloads"]["facets"]
    facets = {one["facet"]: one["words"] for one in found}
    for one, argument in zip(
        by, ("users", "queues", "priorities"), strict=True
    ):
        counted = {o["word"]: o["count"] for o in facets[one.name]}
        assert counted == keys[one]
        for key, count in counted.items():
            chosen_by: dict[str, Any] = {argument: [key]}
            chosen = await ask_jobs(
                reading,
                JobsQuestion(window=EVER, wanted=JobFilter(**chosen_by)),
                RULES,
                now=end_of(reading),
            )
            assert len(chosen.workloads) == count, (argument, key)


async def test_pods_are_where_they_were_before_each_act(
    reading: Reading,
) -> None:
    at = datetime.fromisoformat(
        next(one.since for one in TRUTH.expected if one.act == "crash")
    )
    answer = await ask_objects(
        reading,
        ObjectsQuestion(kind="pods", at=at, limit=1000),
        now=end_of(reading),
    )
    places = {one.name: one.node for one in answer.objects}
    for expected in TRUTH.expected:
        if expected.act == "crash":
            assert {places[pod] for pod in expected.pods} == {"gpu-002"}


async def test_the_owner_of_a_job_is_notified_of_each_ending(
    played: Database, embedded_server: DatabaseServer
) -> None:
    rule = a_rule("{workload: [trainjob-a]}")
    before = datetime(2000, 1, 1, tzinfo=UTC)
    async with fresh_database(embedded_server, TEMPLATE) as box:
        await play(box.dsn("writer"), tape_of("cordon"), name="other")
        async with (
            reading_of(played.dsn("reader"), 1) as opened,
            outbox(box.dsn("notifier")) as kept,
        ):
            await following_of([rule], kept).judge(opened, since=before)
            messages = await messages_in(kept)
    assert [one.now.happened for one in messages] == [
        "node-failure",
        "drain",
        "preemption",
        "container-exit",
    ]
    assert {one.now.workload for one in messages} == {
        "trainjob/train/trainjob-a"
    }


if sampled("laboratory of gangs", [True], 0):

    @pytest.mark.timeout(1500)
    async def test_a_new_run_of_the_laboratory_is_explained(
        database: Database, tmp_path: Path
    ) -> None:
        tape, truth = tmp_path / TAPE.name, tmp_path / "truth.json"
        await make(tape, truth)
        log = await play(database.dsn("writer"), tape, name="gangs")
        async with reading_of(database.dsn("reader"), log) as opened:
            assert await judged(opened, read_truth(truth)) == []
