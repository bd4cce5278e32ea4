"""What questions answer about a Slurm that was polled."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from recorder.answers.job_questions import JobFilter, JobsQuestion
from recorder.answers.jobs import ListedWorkload, ask_jobs
from recorder.answers.naming import Reference
from recorder.answers.node_questions import WhyWorkloadQuestion
from recorder.answers.ports import Reading
from recorder.answers.slurm_names import SlurmNames
from recorder.answers.why_workload import (
    WhyWorkloadFound,
    ask_why_workload,
    why_workload_lines,
)
from recorder.answers.workload_named import find_workload
from recorder.explain.knowledge import shipped
from recorder.facts.classify.claims import claim_key
from recorder.model.observation import (
    SLURM,
    CloudEventPosted,
    Observation,
)
from recorder.model.window import Window
from tests.corpus.logs import reading_of
from tests.slurm.polls import events
from tests.support.filled import filled_database
from tests.support.fixed_log import write_log
from tests.support.postgres import Database, DatabaseServer


def claimed(found: Sequence[tuple[int, dict[str, Any]]]) -> list[Observation]:
    return [
        CloudEventPosted(
            observed_at=datetime.fromtimestamp(at, UTC),
            event=msgspec.json.encode({"specversion": "1.0", **event}),
            source=SLURM,
            key=claim_key(event["source"], event["id"]),
        )
        for at, event in found
    ]


@pytest.fixture(scope="module")
def polled(embedded_server: DatabaseServer) -> Iterator[Database]:
    story = [claimed(events("b"))]
    with filled_database(
        embedded_server, lambda dsn: write_log(dsn, story, with_facts=True)
    ) as database:
        yield database


@asynccontextmanager
async def reading(log: Database) -> AsyncIterator[Reading]:
    async with reading_of(log.dsn("reader"), 1) as found:
        yield found


NOW = datetime.fromtimestamp(events("b")[-1][0], UTC) + timedelta(hours=1)


async def why(log: Database, job: int) -> WhyWorkloadFound:
    async with reading(log) as found:
        return await ask_why_workload(
            found,
            WhyWorkloadQuestion(
                object=Reference.parse(f"slurmjob/lab/{job}"),
                at=None,
                window=Window(),
            ),
            shipped(),
            now=NOW,
        )


async def listed(log: Database) -> dict[str, ListedWorkload]:
    async with reading(log) as found:
        jobs = await ask_jobs(
            found,
            JobsQuestion(wanted=JobFilter(), window=Window()),
            shipped(),
            now=NOW,
        )
    return {one.name: one for one in jobs.workloads}


async def test_jobs_of_slurm_are_in_the_list(polled: Database) -> None:
    found = await listed(polled)
    assert {(one.kind, one.namespace) for one in found.values()} == {
        ("SlurmJob", "lab")
    }
    assert found.keys() == {*map(str, range(1, 12)), *map(str, range(16, 22))}
    assert (found["8"].gang_size, found["11"].gang_size) == (6, 3)
    assert found["2"].state == "failed"
    assert found["3"].state == "completed"
    assert found["16"].state == "deleted"


@pytest.mark.parametrize(
    ("job", "by", "confidence", "node", "said"),
    [
        (2, "node-failure", "likely", "gpu-005", "failed node gpu-005"),
        (17, "container-exit", "proven", "gpu-001", "exit code 3"),
        (18, "container-exit", "possible", "gpu-002", "exit code 139"),
        (19, "deadline", "proven", None, "exceeded its own deadline"),
        (16, "deletion", "proven", None, "was deleted"),
    ],
)
async def test_why_a_job_ended(
    polled: Database,
    job: int,
    by: str,
    confidence: str,
    node: str | None,
    said: str,
) -> None:
    (ending,) = (await why(polled, job)).endings
    assert (ending.ended_by, ending.node) == (by, node)
    assert ending.confidence == confidence
    assert said in ending.sentence


async def test_a_requeued_job_was_lost_by_the_node_that_was_down(
    polled: Database,
) -> None:
    first = (await why(polled, 1)).endings[0]
    assert (first.ended_by, first.confidence) == ("node-failure", "likely")
    assert first.pods == ["1.gpu-002"]
    assert {*first.nodes} == {"gpu-001", "gpu-002", "gpu-003"}


async def test_a_completed_job_has_no_ending_but_its_own(
    polled: Database,
) -> None:
    found = await why(polled, 11)
    assert found.state == "completed"
    assert [one.ended_by for one in found.endings] == ["completion"]


async def test_whose_a_job_is_is_answered(polled: Database) -> None:
    found = await why(polled, 8)
    assert isinstance(found.slurm, SlurmNames)
    assert (found.slurm.name, found.slurm.user, found.slurm.partition) == (
        *("big-train", "root", "train"),
    )
    shown = "\n".join(why_workload_lines(found))
    assert "big-train, user root, account root, partition train" in shown
    assert (await listed(polled))["8"].slurm == found.slurm


async def test_a_job_is_named_without_its_cluster(polled: Database) -> None:
    async with reading(polled) as found:
        named = await find_workload(
            found, Reference.parse("slurm/8"), until=None
        )
    assert named.found.incarnations[0].identity.namespace == "lab"
