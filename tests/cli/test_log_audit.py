"""Requests are found by node, verb and code, and read as sentences."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from recorder.model.observation import AuditRecorded, Observation
from tests.cli.conftest import Recorder
from tests.support.builders import PODS, a_frame, a_list, at
from tests.support.filled import filled_database
from tests.support.fixed_log import a_pod
from tests.support.postgres import Database, DatabaseServer
from tests.support.written_log import WrittenLog

POD = {"resource": "pods", "namespace": "train", "name": "db-0"}
EVICTION = {**POD, "subresource": "eviction"}


def asked(
    verb: str, about: dict[str, str], when: float, code: int = 201
) -> AuditRecorded:
    stamp = at(when).isoformat().replace("+00:00", "Z")
    record: dict[str, Any] = {
        "auditID": f"a{when}",
        "stage": "ResponseComplete",
        "verb": verb,
        "user": {"username": "alice"},
        "userAgent": "kubectl/v1.36.3",
        "objectRef": about,
        "responseStatus": {"code": code},
        "requestReceivedTimestamp": stamp,
        "stageTimestamp": stamp,
    }
    return AuditRecorded(observed_at=at(when), event=orjson.dumps(record))


def a_life(version: int, node: str, when: float, kind: str) -> Observation:
    pod = a_pod("db-0", version, node=node, phase="Running")
    metadata: Any = pod["metadata"]
    metadata["uid"] = f"uid-{node}"
    metadata["creationTimestamp"] = at(when).isoformat()
    return a_frame(PODS, kind, pod, when=when)


STORY = [
    a_list(PODS, 10),
    a_life(11, "n1", 10, "ADDED"),
    asked("create", EVICTION, 20, 429),
    asked("get", {**POD, "subresource": "exec"}, 21, 101),
    asked("create", EVICTION, 30),
    a_life(12, "n1", 31, "DELETED"),
    a_life(13, "n2", 40, "ADDED"),
    asked("create", EVICTION, 50),
    asked("delete", {"resource": "nodes", "name": "n2"}, 60, 403),
    asked("get", {**POD, "resource": "secrets", "name": "keys"}, 61, 200),
]
"""A Pod of one name, on one node and then on another."""


@pytest.fixture(scope="module")
def audited_database(embedded_server: DatabaseServer) -> Iterator[Database]:
    async def fill(writer: str) -> None:
        written_log = WrittenLog(writer)
        await written_log.begin("n1", "n2")
        await written_log.append(*STORY)
        await written_log.end()

    with filled_database(embedded_server, fill) as database:
        yield database


@pytest.fixture(autouse=True)
def audited(
    audited_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = audited_database.dsn("reader")
    monkeypatch.setenv("RECORDER_DATABASE_URL", dsn)


def said(recorder: Recorder, *words: str) -> list[str]:
    """What the entries say, of an answer as a table."""
    _, *lines = recorder("log", "--source", "audit", *words).out.splitlines()
    return [line[line.index("alice") :] for line in lines]


def test_a_request_about_a_pod_is_of_the_node_where_it_was_then(
    recorder: Recorder,
) -> None:
    assert said(recorder, "--node", "n1") == [
        "alice could not evict pod/train/db-0 (kubectl drain, 429)",
        "alice executed a command in pod/train/db-0 (kubectl)",
        "alice evicted pod/train/db-0 (kubectl drain)",
    ]
    assert said(recorder, "--node", "n2") == [
        "alice evicted pod/train/db-0 (kubectl drain)",
        "alice was denied to delete node/n2 (kubectl, 403)",
    ]


def test_the_newest_of_a_node_count_them_too(recorder: Recorder) -> None:
    newest = said(recorder, "--node", "n1", "--limit", "1")

    assert newest == ["alice evicted pod/train/db-0 (kubectl drain)"]


def test_their_facts_are_of_the_node_as_well(recorder: Recorder) -> None:
    answer = recorder(
        *("log", "--node", "n1", "--facts", "--source", "audit"),
        *("-o", "ndjson"),
    )

    details: list[Any] = [line["detail"] for line in answer.lines]
    verbs = [detail.get("subresource") for detail in details]
    assert verbs == ["eviction", "exec", "eviction"]


def test_refusals_are_found_by_their_code(recorder: Recorder) -> None:
    refused = recorder("log", "--code", "403", "-o", "ndjson")

    assert [line["reason"] for line in refused.lines] == ["delete"]
    by_verb = recorder(
        *("log", "--code", "429", "--verb", "create/eviction"),
        *("-o", "ndjson"),
    )
    assert len(by_verb.lines) == 1
    assert recorder("log", "--code", "404", "-o", "ndjson").lines == []
    facts = recorder("log", "--code", "403", "--facts", "-o", "ndjson")
    assert len(facts.lines) == 1


def test_who_read_a_secret_is_found_by_the_secret(recorder: Recorder) -> None:
    answer = recorder("log", "--object", "secret/train/keys")

    assert "alice read secret/train/keys (kubectl)" in answer.out


def test_a_code_selects_requests_alone(recorder: Recorder) -> None:
    answer = recorder("log", "--code", "403", "--reason", "Rebooted")

    assert answer.status == 2
    assert "--code selects audited requests" in answer.err
