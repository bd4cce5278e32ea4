"""An object that audit records mention is one, by whatever kind they say."""

from collections.abc import AsyncIterator, Iterable
from typing import Any

import orjson
import pytest

from recorder.model.observation import AuditRecorded, Observation
from recorder.model.reference import Resource
from tests.api.serving import Client, served_by
from tests.support.builders import PODS, a_frame, a_list, at
from tests.support.builders import an_object as built
from tests.support.postgres import Database
from tests.support.written_log import WrittenLog

JOBSETS = Resource.parse("jobset.x-k8s.io/v1alpha2/jobsets")
QUEUES = [
    Resource.parse(f"{group}.example.com/v1/queues") for group in ("a", "b")
]
UID = "uid-llm"


def a_jobset(version: int, **spec: Any) -> dict[str, Any]:
    found = built("llm", version, spec=spec)
    found["metadata"]["uid"] = UID
    return {
        "apiVersion": JOBSETS.api_version,
        "kind": "JobSet",
        **found,
    }


def a_worker() -> dict[str, Any]:
    pod = built(
        "llm-w-0", 5, spec={"nodeName": "n1"}, status={"phase": "Running"}
    )
    pod["metadata"]["ownerReferences"] = [
        {
            "apiVersion": JOBSETS.api_version,
            "kind": "JobSet",
            "name": "llm",
            "uid": UID,
            "controller": True,
        }
    ]
    return pod


def a_queue(kind: str, version: int) -> dict[str, Any]:
    return {"kind": kind, **built("team", version)}


def asked_for(verb: str, when: float, uid: str | None) -> AuditRecorded:
    reference = {
        "resource": "jobsets",
        "apiGroup": "jobset.x-k8s.io",
        "namespace": "train",
        "name": "llm",
        **({} if uid is None else {"uid": uid}),
    }
    record = {
        "auditID": f"a{when}",
        "stage": "ResponseComplete",
        "verb": verb,
        "user": {"username": "alice"},
        "objectRef": reference,
        "requestReceivedTimestamp": "2026-11-21T03:00:03.250000Z",
    }
    return AuditRecorded(observed_at=at(when), event=orjson.dumps(record))


def batches() -> Iterable[Iterable[Observation]]:
    yield [
        a_list(JOBSETS, 10, a_jobset(6, suspend=False)),
        a_list(PODS, 10, a_worker()),
        a_list(QUEUES[0], 10, a_queue("Queue", 7)),
        a_list(QUEUES[1], 10, a_queue("Queue", 8)),
    ]
    yield [
        asked_for("update", 20, UID),
        asked_for("patch", 30, None),
        a_frame(JOBSETS, "MODIFIED", a_jobset(20, suspend=True), when=40),
    ]


@pytest.fixture
async def audited(database: Database) -> AsyncIterator[Client]:
    written_log = WrittenLog(database.dsn("writer"))
    await written_log.begin("n1")
    for batch in batches():
        await written_log.append(*batch)
    await written_log.end()
    async with served_by(database.dsn("reader")) as client:
        yield client


WORDS = ("jobset", "jobsets", "JobSet", "jobsets.jobset.x-k8s.io")


@pytest.mark.parametrize("word", WORDS)
async def test_an_object_of_one_uid_is_one(audited: Client, word: str) -> None:
    found = await audited.ask(
        """query One($name: String!) { object(name: $name) {
          kind uids
          versions { nodes { entry { name } changed { path } begins } }
          facts { nodes { kind actor } } } }""",
        name=f"{word}/train/llm",
    )

    one = found["object"]
    assert (one["kind"], one["uids"]) == ("JobSet", [UID])
    first, second = one["versions"]["nodes"]
    assert (first["begins"], second["begins"]) == (True, False)
    assert [change["path"] for change in second["changed"]] == ["spec.suspend"]
    asked = [f for f in one["facts"]["nodes"] if f["kind"] == "REQUESTED"]
    assert [fact["actor"] for fact in asked] == ["alice", "alice"]


@pytest.mark.parametrize("word", WORDS)
async def test_a_workload_that_audit_mentions_is_one(
    audited: Client, word: str
) -> None:
    found = await audited.ask(
        """query One($name: String!) { workload(name: $name) {
          workload { kind name uid } nodes } }""",
        name=f"{word}/train/llm",
    )

    assert found["workload"] == {
        "workload": {"kind": "JobSet", "name": "llm", "uid": UID},
        "nodes": ["n1"],
    }


async def test_what_is_searched_for_is_found_once(audited: Client) -> None:
    found = await audited.ask('{ search(text: "llm") { hits { title } } }')

    titles = [hit["title"] for hit in found["search"]["hits"]]
    assert titles == ["jobset/train/llm", "pod/train/llm-w-0"]


async def test_candidates_differ_and_can_be_chosen(audited: Client) -> None:
    reply = await audited.post(
        {"query": '{ object(name: "queue/train/team") { kind } }'}
    )
    (error,) = reply.json["errors"]

    names = error["message"].partition("several objects: ")[2].split(", ")
    assert names == [
        "queues.a.example.com/train/team",
        "queues.b.example.com/train/team",
    ]
    for name in names:
        found = await audited.ask(
            "query One($name: String!) { object(name: $name) { kind } }",
            name=name,
        )
        assert found["object"] == {"kind": "Queue"}


async def test_versions_with_an_author_are_counted(audited: Client) -> None:
    found = await audited.ask(
        "{ auditCoverage { audited records resources { resource versions } } }"
    )

    counted = found["auditCoverage"]
    assert (counted["audited"], counted["records"]) == (True, 2)
    assert counted["resources"] == [{"resource": str(JOBSETS), "versions": 1}]
