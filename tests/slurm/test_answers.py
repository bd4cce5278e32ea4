"""What questions answer about a Slurm that was polled."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from recorder.answers.job_questions import JobFilter, JobsQuestion
from recorder.answers.jobs import ListedWorkload, ask_jobs
from recorder.answers.markdown import markdown
from recorder.answers.naming import Reference
from recorder.answers.node_questions import (
    GroupBy,
    PostmortemQuestion,
    StatsQuestion,
)
from recorder.answers.ports import Reading
from recorder.answers.postmortem import ask_postmortem
from recorder.answers.slurm_names import SlurmNames
from recorder.answers.stats import ask_stats
from recorder.answers.why_workload import (
    WhyWorkload,
    why_workload_lines,
)
from recorder.answers.workload_named import find_workload
from recorder.explain.knowledge import shipped
from recorder.model.window import Window
from tests.slurm.playing import Logs, claimed, why_job
from tests.slurm.polls import events

Played = tuple[Logs, int]
"""The recording of 24.11, in a log of this number."""


@pytest.fixture(scope="module")
def polled(logs: Logs) -> Played:
    return logs, asyncio.run(logs.write(claimed(events("b"))))


@asynccontextmanager
async def reading(played: Played) -> AsyncIterator[Reading]:
    logs, log = played
    async with logs.reading(log) as found:
        yield found


NOW = datetime.fromtimestamp(events("b")[-1][0], UTC) + timedelta(hours=1)


async def why(played: Played, job: int) -> WhyWorkload:
    async with reading(played) as found:
        return await why_job(found, job, NOW)


async def listed(played: Played) -> dict[str, ListedWorkload]:
    async with reading(played) as found:
        jobs = await ask_jobs(
            found,
            JobsQuestion(wanted=JobFilter(), window=Window()),
            shipped(),
            now=NOW,
        )
    return {one.name: one for one in jobs.workloads}


async def test_jobs_of_slurm_are_in_the_list(polled: Played) -> None:
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
    polled: Played,
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
    polled: Played,
) -> None:
    first = (await why(polled, 1)).endings[0]
    assert (first.ended_by, first.confidence) == ("node-failure", "likely")
    assert first.pods == ["1.gpu-002"]
    assert {*first.nodes} == {"gpu-001", "gpu-002", "gpu-003"}


async def test_a_completed_job_has_no_ending_but_its_own(
    polled: Played,
) -> None:
    found = await why(polled, 11)
    assert found.state == "completed"
    assert [one.ended_by for one in found.endings] == ["completion"]


async def test_whose_a_job_is_is_answered(polled: Played) -> None:
    found = await why(polled, 8)
    assert isinstance(found.slurm, SlurmNames)
    assert (found.slurm.name, found.slurm.user, found.slurm.partition) == (
        *("big-train", "root", "train"),
    )
    shown = "\n".join(why_workload_lines(found))
    assert "big-train, user root, account root, partition train" in shown
    assert (await listed(polled))["8"].slurm == found.slurm


async def test_a_job_is_named_without_its_cluster(polled: Played) -> None:
    async with reading(polled) as found:
        named = await find_workload(
            found, Reference.parse("slurm/8"), until=None
        )
    assert named.found.incarnations[0].identity.namespace == "lab"


@pytest.mark.parametrize("job", [1, 2, 17])
async def test_the_parts_of_a_job_are_members(
    polled: Played, job: int
) -> None:
    found = await why(polled, job)
    text = "\n".join(why_workload_lines(found, verbose=True))
    assert f"member/lab/{job}.gpu-" in text
    assert re.search(r"^ *members +\d", text, re.MULTILINE)
    assert not re.search(r"\bpods?\b|container logs", text, re.IGNORECASE)


async def test_a_postmortem_is_of_a_job(polled: Played) -> None:
    question = PostmortemQuestion(
        workload=Reference.parse("slurmjob/lab/17"), window=Window()
    )
    async with reading(polled) as found:
        report = await ask_postmortem(found, question, shipped(), now=NOW)
    text = markdown(report)
    assert "SlurmJob lab/17: batch script of member 17.gpu-001" in text
    assert "It ended 1 member" in text
    assert "Read the log of 17.gpu-001: its script failed by itself" in text
    assert not re.search(r"\bpod/|[0-9a-z] Pods?\b|container logs", text)


async def test_jobs_are_counted_with_all_others(polled: Played) -> None:
    question = StatsQuestion(by=(GroupBy.WORKLOAD,), window=Window())
    async with reading(polled) as found:
        stats = await ask_stats(found, question, shipped(), now=NOW)
    assert isinstance(stats.reliability, list)
    (by,) = stats.reliability
    assert by.totals.workloads == 17
    assert (by.totals.interruptions, by.totals.completions) == (9, 5)
    assert "slurmjob/lab/8" in {group.key for group in by.groups}
