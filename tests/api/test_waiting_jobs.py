"""Workloads without any Pod, and Pods that were never bound, are listed.

`why` of one says what keeps it from starting.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import aiohttp
import orjson
import pytest

from recorder.model.observation import AuditRecorded
from recorder.model.reference import Resource
from tests.api.serving import Client, serving_beside, settings_for
from tests.api.test_workloads import WORKLOADS, listed
from tests.support.builders import (
    EVENTS,
    PODS,
    a_frame,
    a_list,
    an_event,
    an_object,
    at,
)
from tests.support.filled import filled_database
from tests.support.postgres import DatabaseServer
from tests.support.seeded_jobs import JOBS, JOBSETS
from tests.support.written_log import WrittenLog

QUEUE = Resource.parse("kueue.x-k8s.io/v1beta1/workloads")
VOLCANO = Resource.parse("batch.volcano.sh/v1alpha1/jobs")
POD_GROUPS = Resource.parse("scheduling.volcano.sh/v1beta1/podgroups")
RAY_JOBS = Resource.parse("ray.io/v1/rayjobs")

EXPECTED = {
    "queued": ("QUEUED", 10),
    "paused": ("SUSPENDED", 30),
    "stuck": ("PENDING", 10),
    "set": ("PENDING", 10),
    "gone": ("DELETED", None),
    "alone": ("PENDING", 10),
    "denied": ("PENDING", 10),
    "wide": ("PENDING", 10),
    "ray": ("COMPLETED", None),
}
"""The state of each workload, and since when it waits."""


QUOTA = (
    'Error creating: pods "stuck-x" is forbidden: exceeded quota: gpus,'
    " requested: nvidia.com/gpu=8, used: 0, limited: 4"
)
DENIED = (
    'Error creating: admission webhook "images.example.com" denied the'
    " request: image is not signed"
)
NO_NODES = "4/4 tasks in gang unschedulable: pod group is not ready"
NO_FLAVOR = "couldn't assign flavors to pod set main: insufficient quota"


def refused(job: str, message: str) -> dict[str, Any]:
    """Return the Event of a Job whose Pods were refused."""
    event = an_event(f"{job}.1", 51)
    event["involvedObject"] |= {"kind": "Job", "apiVersion": "batch/v1"}
    event["involvedObject"] |= {"name": job, "uid": f"uid-{job}"}
    event |= {"type": "Warning", "reason": "FailedCreate", "message": message}
    event["source"] = {"component": "job-controller"}
    return event


def pending(queued: dict[str, Any]) -> dict[str, Any]:
    """Return an object of Kueue that does not get a quota."""
    lacks: dict[str, Any] = {"type": "QuotaReserved", "status": "False"}
    lacks |= {"reason": "Pending", "message": NO_FLAVOR}
    return queued | {"status": {"conditions": [lacks]}}


def group(version: int) -> dict[str, Any]:
    """Return a PodGroup of Volcano that fits on no nodes."""
    found = made("wide-group", "PodGroup", version, of=("Job", "wide"))
    (above,) = found["metadata"]["ownerReferences"]
    above["apiVersion"] = VOLCANO.api_version
    lacks = {"type": "Unschedulable", "status": "True"}
    lacks |= {"reason": "NotEnoughResources", "message": NO_NODES}
    found["spec"] = {"minMember": 4, "queue": "research"}
    return found | {"status": {"conditions": [lacks], "phase": "Pending"}}


def ray(version: int, status: str) -> dict[str, Any]:
    """Return a RayJob."""
    return made("ray", "RayJob", version) | {"status": {"jobStatus": status}}


def suspended(job: str, user: str, seconds: float) -> AuditRecorded:
    """Return the audit record of the request that suspended a Job."""
    when = f"{at(seconds):%Y-%m-%dT%H:%M:%S.%fZ}"
    event = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Request",
        "auditID": f"suspended {job}",
        "stage": "ResponseComplete",
        "verb": "patch",
        "user": {"username": user},
        "userAgent": "kubectl/v1.36.3",
        "objectRef": {
            "resource": "jobs",
            "apiGroup": "batch",
            "apiVersion": "v1",
            "namespace": "train",
            "name": job,
        },
        "requestObject": {"spec": {"suspend": True}},
        "responseStatus": {"code": 200},
        "stageTimestamp": when,
        "requestReceivedTimestamp": when,
    }
    return AuditRecorded(observed_at=at(seconds), event=orjson.dumps(event))


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
        sets = of[0] == "JobSet"
        above["apiVersion"] = JOBSETS.api_version if sets else "batch/v1"
        found["metadata"]["ownerReferences"] = [above]
    if suspend is not None:
        found["spec"] = {"suspend": suspend, "parallelism": 4}
    return found


async def fill(writer: str) -> None:
    log = WrittenLog(writer)
    await log.lease()
    await log.append(*(a_list(of, 2) for of in (JOBS, JOBSETS, QUEUE)))
    await log.append(a_list(PODS, 2), a_list(EVENTS, 2))
    kinds = (VOLCANO, POD_GROUPS, RAY_JOBS)
    await log.append(*(a_list(of, 2) for of in kinds))
    jobs = [
        made("queued", "Job", 11, suspend=True),
        made("paused", "Job", 12, suspend=False),
        made("stuck", "Job", 13, suspend=False),
        made("gone", "Job", 14, suspend=True),
        made("denied", "Job", 19, suspend=False),
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
        a_frame(
            QUEUE,
            "MODIFIED",
            pending(made("job-queued", "Workload", 18, of=("Job", "queued"))),
            when=12,
        ),
        a_frame(EVENTS, "ADDED", refused("stuck", QUOTA), when=13),
        a_frame(EVENTS, "ADDED", refused("set-0", "no"), when=14),
        a_frame(EVENTS, "ADDED", refused("denied", DENIED), when=14),
        a_frame(VOLCANO, "ADDED", made("wide", "Job", 20), when=10),
        a_frame(POD_GROUPS, "ADDED", group(21), when=11),
        a_frame(RAY_JOBS, "ADDED", ray(22, "RUNNING"), when=10),
        a_frame(PODS, "ADDED", made("alone", "Pod", 17), when=10),
    )
    paused = made("paused", "Job", 31, suspend=True)
    await log.append(
        suspended("paused", "dave@example.com", 29.9),
        a_frame(JOBS, "MODIFIED", paused, when=30),
        a_frame(RAY_JOBS, "MODIFIED", ray(32, "SUCCEEDED"), when=31),
        a_frame(
            JOBS,
            "DELETED",
            made("gone", "Job", 41, suspend=True),
            when=40,
        ),
    )
    await log.end()


@pytest.fixture(scope="module")
def address(embedded_server: DatabaseServer) -> Iterator[str]:
    with (
        filled_database(embedded_server, fill) as database,
        serving_beside(settings_for(database.dsn("reader"))) as address,
    ):
        yield address


@pytest.fixture
async def served(address: str) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        yield Client(address, session)


QUERY = WORKLOADS.replace("beganAt", "beganAt waitingSince")


async def test_what_waits_is_listed_with_its_state_and_since_when(
    served: Client,
) -> None:
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
    assert {*names[1]} == EXPECTED.keys() - {"gone", "ray"}


WHY = """query ($name: String!) {
  whyWorkload(name: $name) { state sentence obstacles { says actor { name } } }
  workload(name: $name) { nodes placements { pod } }
}"""


@pytest.mark.parametrize(
    ("name", "begins", "says"),
    [
        ("stuck", "Job train/stuck is not running yet: ", QUOTA[:60]),
        ("queued", "Job train/queued waits in a queue at ", NO_FLAVOR),
        ("denied", "Job train/denied is not running yet: ", DENIED[:60]),
        ("wide", "Job train/wide is not running yet: ", NO_NODES),
        ("job/train/paused", "Job train/paused is suspended at ", "suspend"),
        ("jobset/train/set", "JobSet train/set is not running yet: ", "no"),
    ],
)
async def test_why_of_what_has_no_pods_says_what_keeps_it_from_starting(
    served: Client, name: str, begins: str, says: str
) -> None:
    asked = WHY.replace(WHY.splitlines()[2], "")
    found = (await served.ask(asked, name=name))["whyWorkload"]

    assert found["sentence"].startswith(begins)
    assert says in found["obstacles"][-1]["says"]
    assert found["obstacles"][-1]["says"] in found["sentence"]


async def test_the_person_who_suspended_a_workload_is_named(
    served: Client,
) -> None:
    answer = await served.ask(WHY, name="job/train/paused")

    obstacles = answer["whyWorkload"]["obstacles"]
    assert obstacles[-1]["actor"] == {"name": "dave@example.com"}


async def test_the_controller_that_reports_an_obstacle_is_named(
    served: Client,
) -> None:
    answer = await served.ask(WHY, name="job/train/stuck")

    found, story = answer["whyWorkload"], answer["workload"]
    assert story == {"nodes": [], "placements": []}
    (only,) = found["obstacles"]
    assert only["actor"] == {"name": "job-controller"}
    assert found["sentence"].endswith(" (by job-controller).")
