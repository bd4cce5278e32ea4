"""Workloads without any Pod, and Pods that were never bound, are listed."""

from collections.abc import Iterator
from typing import Any

import pytest

from recorder.model.reference import Resource
from tests.api.serving import served_by
from tests.api.test_workloads import WORKLOADS, listed
from tests.support.builders import PODS, a_frame, a_list, an_object, at
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer
from tests.support.seeded_jobs import JOBS, JOBSETS
from tests.support.written_log import WrittenLog

QUEUE = Resource.parse("kueue.x-k8s.io/v1beta1/workloads")

EXPECTED = {
    "queued": ("QUEUED", 10),
    "paused": ("SUSPENDED", 30),
    "stuck": ("PENDING", 10),
    "set": ("PENDING", 10),
    "gone": ("DELETED", None),
    "alone": ("PENDING", 10),
}
"""The state of each workload, and since when it waits."""


def made(
    name: str,
    kind: str,
    version: int,
    *,
    of: tuple[str, str] | None = None,
    suspend: bool | None = None,
) -> dict[str, Any]:
    """Return an object of a kind, with its owner."""
    found = an_object(name, version, uid=f"uid-{name}")
    found["kind"] = kind
    found["metadata"]["namespace"] = "train"
    if of is not None:
        above: dict[str, Any] = {"kind": of[0], "name": of[1]}
        above |= {"uid": f"uid-{of[1]}", "controller": True}
        above["apiVersion"] = "batch/v1"
        found["metadata"]["ownerReferences"] = [above]
    if suspend is not None:
        found["spec"] = {"suspend": suspend, "parallelism": 4}
    return found


@pytest.fixture(scope="module")
def database(embedded_server: DatabaseServer) -> Iterator[Database]:
    async def fill(writer: str) -> None:
        log = WrittenLog(writer)
        await log.lease()
        await log.append(*(a_list(of, 2) for of in (JOBS, JOBSETS, QUEUE)))
        await log.append(a_list(PODS, 2))
        jobs = [
            made("queued", "Job", 11, suspend=True),
            made("paused", "Job", 12, suspend=False),
            made("stuck", "Job", 13, suspend=False),
            made("gone", "Job", 14, suspend=True),
            made("set-0", "Job", 15, of=("JobSet", "set"), suspend=False),
        ]
        await log.append(
            a_frame(JOBSETS, "ADDED", made("set", "JobSet", 10), when=10),
            *(a_frame(JOBS, "ADDED", job, when=10) for job in jobs),
            a_frame(
                QUEUE,
                "ADDED",
                made("job-queued", "Workload", 16, of=("Job", "queued")),
                when=11,
            ),
            a_frame(PODS, "ADDED", made("alone", "Pod", 17), when=10),
        )
        paused = made("paused", "Job", 31, suspend=True)
        await log.append(
            a_frame(JOBS, "MODIFIED", paused, when=30),
            a_frame(
                JOBS,
                "DELETED",
                made("gone", "Job", 41, suspend=True),
                when=40,
            ),
        )
        await log.end()

    with filled_database(embedded_server, fill) as found:
        yield found


QUERY = WORKLOADS.replace("beganAt", "beganAt waitingSince")


async def test_what_waits_is_listed_with_its_state_and_since_when(
    database: Database,
) -> None:
    async with served_by(database.dsn("reader")) as served:
        whole = await listed(served, QUERY)
        ended = await listed(served, QUERY, endedBy=["any"])
        queued = await listed(served, QUERY, states=["QUEUED", "SUSPENDED"])
        later = await listed(served, QUERY, since=f"{at(60):%FT%TZ}")

    rows = {edge["node"]["name"]: edge["node"] for edge in whole["edges"]}
    assert {
        name: (row["state"], row["waitingSince"]) for name, row in rows.items()
    } == {
        name: (state, None if since is None else f"{at(since):%FT%T.%fZ}")
        for name, (state, since) in EXPECTED.items()
    }
    assert rows["queued"]["gangSize"] == 4
    assert rows["queued"]["gpus"] == rows["queued"]["endings"] == 0
    assert not ended["edges"]
    names = [[e["node"]["name"] for e in o["edges"]] for o in (queued, later)]
    assert names[0] == ["queued", "paused"]
    assert "gone" not in names[1]
    assert len(names[1]) == len(EXPECTED) - 1
