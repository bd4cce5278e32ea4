"""Whole drafts of documents as a real cluster sends them."""

from typing import Any

import pytest

from recorder.facts.classify import read_head, read_object
from recorder.model.entry import Draft, Operation
from recorder.model.reference import ObjectIdentity, Resource
from tests.classify import documents
from tests.classify.examples import AT, at, drafted

POD = ObjectIdentity(
    "",
    "Pod",
    "train",
    "llm-worker-0-7xk2p",
    "b1f7c3f0-57a4-4c8b-8f3e-0d1b5a2a9a11",
)
GOLDEN: dict[str, dict[str, Any]] = {
    "event": {
        "resource": "v1/events",
        "identity": POD,
        "resource_version": "918273",
        "node": "gpu-002",
        "occurred_at": at("2026-03-01T03:14:09Z"),
        "reason": "BackOff",
        "actor": "kubelet",
    },
    "events_v1_event": {
        "resource": "events.k8s.io/v1/events",
        "identity": POD,
        "resource_version": "918274",
        "occurred_at": at("2026-03-01T03:13:05.654321Z"),
        "reason": "FailedScheduling",
        "actor": "default-scheduler",
    },
    "pod": {
        "resource": "v1/pods",
        "identity": POD,
        "resource_version": "918001",
        "node": "gpu-002",
    },
    "node": {
        "resource": "v1/nodes",
        "identity": ObjectIdentity(
            "", "Node", "", "gpu-002", "9c7f6a52-1f5b-4b8f-8d76-2f1d4c1f0b02"
        ),
        "resource_version": "920011",
        "node": "gpu-002",
    },
    "lease": {
        "resource": "coordination.k8s.io/v1/leases",
        "identity": ObjectIdentity(
            "coordination.k8s.io",
            "Lease",
            "kube-node-lease",
            "gpu-002",
            "1f1f9a77-6d5f-4c1e-a9b3-0c7fd6d3a002",
        ),
        "resource_version": "920100",
        "node": "gpu-002",
    },
    "job": {
        "resource": "batch/v1/jobs",
        "identity": ObjectIdentity(
            "batch",
            "Job",
            "train",
            "llm-worker-0",
            "6d2f8f0a-8a4c-4a0f-9b80-1f0b6f9f1c22",
        ),
        "resource_version": "917990",
    },
}


@pytest.mark.parametrize("name", GOLDEN)
def test_a_document_gives_its_draft(name: str) -> None:
    document = getattr(documents, name)()

    draft = drafted(document, GOLDEN[name]["resource"])

    assert draft == Draft(
        source="watch",
        operation=Operation.ADDED,
        observed_at=AT,
        raw=documents.compact(document),
        **GOLDEN[name],
    )


@pytest.mark.parametrize("name", GOLDEN)
def test_an_item_of_a_list_gives_the_same_draft(name: str) -> None:
    resource = GOLDEN[name]["resource"]
    document = getattr(documents, name)()
    kind = document.pop("kind")
    del document["apiVersion"]

    with_kind = drafted(document, resource, kind)
    without_kind = drafted(document, resource)

    assert with_kind.identity == GOLDEN[name]["identity"]
    if "event" not in name:
        plural = Resource.parse(resource).plural
        assert without_kind.identity is not None
        assert without_kind.identity.kind == plural


@pytest.mark.parametrize("name", GOLDEN)
def test_the_head_names_the_document_itself(name: str) -> None:
    document = getattr(documents, name)()
    metadata = document["metadata"]
    raw = documents.compact(document)

    head = read_head(raw)

    assert head.uid == metadata["uid"]
    assert head.resource_version == metadata["resourceVersion"]
    assert head.namespace == metadata.get("namespace")
    assert head.name == metadata["name"]
    assert head.kind == document["kind"]
    assert head.api_version == document["apiVersion"]
    resource = Resource.parse(GOLDEN[name]["resource"])
    assert read_object(raw, resource=resource).head == head
