"""A job of Slurm is asked about like the Job that lost the same node."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from recorder.model.observation import Observation
from recorder.sources.slurm.shapes import Job
from tests.api.serving import Client, serving_beside, settings_for
from tests.api.test_agents import answered, over_http
from tests.api.test_waiting_jobs import made
from tests.api.test_workloads import LISTED, listed
from tests.slurm.test_weighed import T0, cluster, failing, slurm, story
from tests.support.builders import PODS, a_frame
from tests.support.filled import filled_database
from tests.support.fixed_log import write_log
from tests.support.postgres import DatabaseServer
from tests.support.written_log import LIVE

SPEC = replace(LIVE, cluster_name="lab", cluster_uid="33333333-lab")
NAMES = {
    "name": "llm",
    "user": "ann",
    "account": "research",
    "partition": "train",
    "qos": "high",
}
ENDED = "SlurmJob lab/7 lost 1 of 3 members on gpu-002 at "
WAITING = Job(
    job=8,
    state="PENDING",
    submit=T0 + 300,
    name="next",
    user="bob",
    account="research",
    partition="train",
    size=2,
)


def pods() -> Iterator[tuple[float, Observation]]:
    """Yield the life of a Pod of a Job on the node that is lost."""
    for when, type_ in ((20, "ADDED"), (450, "DELETED")):
        pod = made("llm-0", "Pod", when, of=("Job", "llm"))
        pod["spec"] = {"nodeName": "gpu-002"}
        pod["status"] = {"phase": "Running"}
        yield when, a_frame(PODS, type_, pod, when=when)


async def fill(writer: str) -> None:
    claims = sorted(
        [*failing("gpu-001"), *slurm((300, [WAITING], []))],
        key=lambda claim: claim[0],
    )
    seen = [*cluster("gpu-002"), *pods()]
    await write_log(writer, story(claims, seen), spec=SPEC, with_facts=True)


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


def asked(question: str, what: str) -> str:
    return LISTED.replace("LIST", question).replace("NODE", what)


JOBS = asked(
    "workloads",
    "kind namespace name state gpus lastEnding { sentence }"
    " slurm { name user account partition qos }",
)
ENDINGS = asked(
    "disruptions",
    "workload { kind name } ending { endedBy nodes sentence }",
)


def nodes(found: Any) -> list[Any]:
    return [edge["node"] for edge in found["edges"]]


async def test_jobs_of_slurm_are_listed_among_the_others(
    served: Client,
) -> None:
    whole = await listed(served, JOBS)
    lost, other, waiting = nodes(whole)

    assert (lost["kind"], lost["namespace"], lost["name"]) == (
        *("SlurmJob", "lab", "7"),
    )
    assert (lost["state"], lost["gpus"], lost["slurm"]) == (
        *("FAILED", 24, NAMES),
    )
    assert lost["lastEnding"]["sentence"].startswith(ENDED)
    assert (other["kind"], other["state"]) == ("Job", "DOWN")
    assert other["slurm"] is None
    assert (waiting["name"], waiting["state"]) == ("8", "PENDING")
    assert waiting["slurm"]["user"] == "bob"
    counts = {
        one["facet"]: {word["word"]: word["count"] for word in one["words"]}
        for one in whole["facets"]
    }
    assert counts["USER"] == {"ann": 1, "bob": 1, None: 1}
    assert counts["QUEUE"] == {"train": 2, None: 1}
    assert counts["PRIORITY"] == {"high": 1, None: 2}
    for name, value in (
        *(("users", ["ann"]), ("priorities", ["high"])),
        *(("kinds", ["slurmjob"]), ("queues", ["train"])),
    ):
        chosen = nodes(await listed(served, JOBS, **{name: value}))
        assert chosen[0] == lost
        assert other not in chosen


async def test_what_ended_both_is_listed_alike(served: Client) -> None:
    of_slurm, of_job = nodes(await listed(served, ENDINGS))

    assert of_slurm["workload"] == {"kind": "SlurmJob", "name": "7"}
    assert of_job["workload"] == {"kind": "Job", "name": "llm"}
    for one in (of_slurm, of_job):
        assert one["ending"]["endedBy"] == "NODE_FAILURE"
        assert one["ending"]["nodes"][0] == "gpu-002"
    assert of_slurm["ending"]["sentence"].startswith(ENDED)


WHY = """{
  whyWorkload(name: "slurm/7") {
    state slurm { name user account partition qos }
    endings { id confidence sentence members { pod says } }
  }
  waits: whyWorkload(name: "slurmjob/lab/8") { state slurm { user } }
  workload(name: "slurmjob/lab/7") {
    gpus isGang nodes placements { pod node }
  }
  stats(by: [USER], since: "2020-01-01T00:00:00Z") {
    reliability { groups { key interruptions } }
  }
}"""


async def test_agents_and_people_get_the_same_reason(
    address: str, served: Client
) -> None:
    found = await served.ask(WHY)
    async with over_http(address) as agent:
        rows = (await answered(agent, "jobs", users=["ann"]))["workloads"]
        answer = await answered(agent, "why_workload", object="slurm/7")

    why, story_ = found["whyWorkload"], found["workload"]
    (ending,) = why["endings"]
    assert ending["members"][0]["pod"] == "7.gpu-002"
    assert (why["state"], why["slurm"]) == ("FAILED", NAMES)
    assert ending["confidence"] == "PROVEN"
    assert ending["sentence"].startswith(ENDED)
    assert ending["sentence"].endswith("; Slurm blames gpu-001.")
    said = {one["pod"]: one["says"] for one in ending["members"]}
    assert said["7.gpu-002"] == "member/lab/7.gpu-002: ended with its run"
    assert "NODE_FAIL, NodeDown" in said["7.gpu-001"]
    assert found["waits"] == {"state": "PENDING", "slurm": {"user": "bob"}}
    assert (story_["gpus"], story_["isGang"]) == (24, True)
    assert story_["placements"] == [
        {"pod": f"7.{node}", "node": node} for node in story_["nodes"]
    ]
    (by_user,) = found["stats"][0]["reliability"]
    assert {"key": "ann", "interruptions": 1} in by_user["groups"]
    (row,) = rows
    (same,) = answer["endings"]
    assert row["slurm"] == answer["slurm"] == NAMES
    assert row["last_ending"]["id"] == same["id"] == ending["id"]
    assert same["sentence"] == ending["sentence"]
