"""Objects that Events and owners name, and how many are remembered."""

from typing import Any

import orjson
import pytest

from recorder.model.reference import Resource
from recorder.sources.watch import witnesses
from recorder.sources.watch.target import Target
from recorder.sources.watch.witnesses import Witnesses

PODS = Target(resource=Resource("", "v1", "pods"), kind="Pod", namespaced=True)
JOBS = Target(
    resource=Resource("batch", "v1", "jobs"), kind="Job", namespaced=True
)
NODES = Target(resource=Resource("", "v1", "nodes"), kind="Node")


def about(kind: str, name: str, version: str = "", **more: str) -> bytes:
    event = {
        "metadata": {"namespace": "n", "resourceVersion": "20"},
        "involvedObject": {
            "kind": kind,
            "apiVersion": "v1",
            "namespace": "n",
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": version,
            **more,
        },
    }
    return orjson.dumps(event)


def named_in(found: Witnesses, target: Target) -> list[tuple[Any, ...]]:
    return [
        (one.uid, one.held.namespace, one.held.name, one.versions)
        for one in found.of(target)
    ]


def test_an_event_is_a_witness_of_its_object_at_two_versions() -> None:
    found = Witnesses()
    found.event(about("Pod", "a", "17"))
    found.event(about("Pod", "b"))
    found.event(about("Node", "c", namespace=""))

    assert named_in(found, PODS) == [
        ("uid-a", "n", "a", (17, 20)),
        ("uid-b", "n", "b", (20,)),
    ]
    assert named_in(found, NODES) == [("uid-c", "", "c", (20,))]
    assert named_in(found, JOBS) == []


def test_an_object_is_a_witness_of_its_owners() -> None:
    found = Witnesses()
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u"}
    metadata = {
        "namespace": "n",
        "resourceVersion": "9",
        "ownerReferences": [owner],
    }
    found.owned(orjson.dumps({"metadata": metadata}))

    assert named_in(found, JOBS) == [("u", "n", "j", (9,))]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"{}",
        b'{"involvedObject": null}',
        b'{"involvedObject": {"kind": "Pod", "name": "a", "uid": 7}}',
        b'{"metadata": {"ownerReferences": "x"}}',
        b'{"regarding": {"kind": "Pod", "apiVersion": "v1", "name": "a"}}',
        b'{"regarding": {"kind": "Pod", "name": "a", "uid": "u"}}',
        b"\xff\xfe",
        b"[" * 10_000,
    ],
)
def test_what_names_no_object_is_left_out(raw: bytes) -> None:
    found = Witnesses()
    found.event(raw)
    found.owned(raw)

    assert named_in(found, PODS) == []


def test_the_witness_of_longest_ago_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(witnesses, "WITNESSED", 20)
    found = Witnesses()
    for number in range(100):
        found.event(about("Pod", "first"))
        found.event(about("Pod", f"p{number}"))

    names = {held for _, _, held, _ in named_in(found, PODS)}
    assert len(names) <= 20
    assert {"first", "p99"} <= names
