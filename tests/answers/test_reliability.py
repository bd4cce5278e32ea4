"""Workloads are grouped by who created them, their priority and queue."""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import orjson
import pytest

from recorder.answers.node_questions import GroupBy, StatsQuestion
from recorder.answers.ports import Reading
from recorder.answers.stats import ask_stats
from recorder.explain.knowledge import shipped
from recorder.model.observation import AuditRecorded, Observation
from recorder.model.reference import Resource
from recorder.model.window import Window
from tests.corpus.logs import reading_of
from tests.support.builders import (
    NODES,
    PODS,
    a_bookmark,
    a_frame,
    a_list,
    a_node,
    an_object,
    at,
)
from tests.support.filled import filled_database
from tests.support.fixed_log import write_log
from tests.support.postgres import Database, DatabaseServer

DAY = timedelta(days=1)
NOW = at() + 2 * DAY
JOBS = Resource("batch", "v1", "jobs")
VOLCANO = Resource("batch.volcano.sh", "v1alpha1", "jobs")
QUEUE = "kueue.x-k8s.io/queue-name"


def a_job(name: str, **labels: str) -> dict[str, Any]:
    made = an_object(name, 2, uid=f"job {name}")
    made |= {"kind": "Job", "apiVersion": "batch/v1"}
    made["metadata"] |= {"namespace": "train", "labels": labels}
    return made


def of_volcano(name: str, queue: str) -> dict[str, Any]:
    """Return a Job of Volcano, whose queue is a field."""
    made = a_job(name) | {"spec": {"queue": queue, "minAvailable": 1}}
    return made | {"apiVersion": VOLCANO.api_version}


def a_pod(
    job: str, number: int, version: int, phase: str, **status: Any
) -> dict[str, Any]:
    """Return a Pod of a Job that asks for two GPUs on a node of its own."""
    made = an_object(f"{job}-{number}", version, uid=f"pod {job}-{number}")
    owner = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": job,
        "uid": f"job {job}",
        "controller": True,
    }
    made["metadata"] |= {"namespace": "train", "ownerReferences": [owner]}
    made["spec"] = {
        "nodeName": f"n{number % 2}",
        "priorityClassName": "high" if job == "llm" else None,
        "containers": [
            {
                "name": "main",
                "resources": {"requests": {"nvidia.com/gpu": "2"}},
            }
        ],
    }
    made["status"] = {"phase": phase, **status}
    return made


def created(name: str, user: str, seconds: float) -> AuditRecorded:
    """Return the audit record of the request that created a Job."""
    event = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": f"created {name}",
        "stage": "ResponseComplete",
        "verb": "create",
        "user": {"username": user},
        "userAgent": "kubectl/v1.36.3",
        "objectRef": {
            "resource": "jobs",
            "apiGroup": "batch",
            "apiVersion": "v1",
            "namespace": "train",
            "name": name,
        },
        "responseStatus": {"code": 201},
        "stageTimestamp": f"{at(seconds):%Y-%m-%dT%H:%M:%S.%fZ}",
        "requestReceivedTimestamp": f"{at(seconds):%Y-%m-%dT%H:%M:%S.%fZ}",
    }
    return AuditRecorded(observed_at=at(seconds), event=orjson.dumps(event))


HOUR = 3600


def added(job: str, number: int, when: float) -> list[Observation]:
    """Return a Pod that is bound, and runs a second later."""
    return [
        a_frame(PODS, "ADDED", a_pod(job, number, 10, "Pending"), when=when),
        a_frame(
            PODS,
            "MODIFIED",
            a_pod(job, number, 11, "Running"),
            when=when + 1,
        ),
    ]


FAILED = {
    "containerStatuses": [
        {
            "name": "main",
            "state": {"terminated": {"exitCode": 1, "reason": "Error"}},
        }
    ]
}
STORY: list[list[Observation]] = [
    [
        a_list(NODES, 1, a_node("n0", 1), a_node("n1", 1)),
        a_list(PODS, 1),
        a_list(JOBS, 1),
        a_list(VOLCANO, 1),
        created("llm", "alice", 5),
        a_frame(JOBS, "ADDED", a_job("llm", **{QUEUE: "gpus"}), when=5),
        *added("llm", 0, 10),
        *added("llm", 1, 10),
        a_frame(VOLCANO, "ADDED", of_volcano("eval", "research"), when=5),
        *added("eval", 0, 10),
        a_frame(
            PODS,
            "MODIFIED",
            a_pod("llm", 1, 20, "Failed", **FAILED),
            when=12 * HOUR,
        ),
        *added("llm", 3, 12 * HOUR + 60),
        *(
            a_bookmark(one, 99, when=24 * HOUR)
            for one in (NODES, PODS, JOBS, VOLCANO)
        ),
    ]
]


@pytest.fixture(scope="module")
def log(embedded_server: DatabaseServer) -> Iterator[Database]:
    with filled_database(
        embedded_server, lambda dsn: write_log(dsn, STORY, with_facts=True)
    ) as database:
        yield database


@pytest.fixture
async def reading(log: Database) -> AsyncIterator[Reading]:
    async with reading_of(log.dsn("reader"), 1) as found:
        yield found


@pytest.mark.parametrize(
    ("by", "key"),
    [
        (GroupBy.WORKLOAD, "job/train/llm"),
        (GroupBy.USER, "alice"),
        (GroupBy.PRIORITY, "high"),
        (GroupBy.QUEUE, "gpus"),
    ],
)
async def test_a_workload_is_in_the_group_of_its_key(
    reading: Reading, by: GroupBy, key: str
) -> None:
    window = Window(at(), at(24 * HOUR))
    stats = await ask_stats(
        reading, StatsQuestion(by=[by], window=window), shipped(), now=NOW
    )
    assert stats.reliability
    (found,) = stats.reliability
    (one,) = [group for group in found.groups if group.key == key]

    assert found.totals.workloads == 2
    if by is GroupBy.QUEUE:
        assert {group.key for group in found.groups} == {"gpus", "research"}
    assert (one.workloads, one.interruptions, one.ran_again) == (1, 1, 1)
    # On two nodes, one empty for a minute, with two GPUs each.
    assert one.node_days == pytest.approx(2, abs=0.01)
    assert one.gpu_days == pytest.approx(4, abs=0.01)
    assert one.node_days_between == one.node_days
    assert one.mean_seconds_to_run_again == pytest.approx(61, abs=1)
    assert one.share_in_full == pytest.approx(1, abs=0.001)
    assert one.hours_wanted == pytest.approx(24, abs=0.01)
