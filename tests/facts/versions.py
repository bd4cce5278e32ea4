"""Versions of objects, and the facts that lie between two of them."""

from collections.abc import Mapping
from typing import Any

import orjson

from recorder.facts import derive, state_of
from recorder.facts.classify import draft, read_object
from recorder.model.entry import Draft, Operation
from recorder.model.fact import Fact, FactKind
from recorder.model.reference import Resource
from tests.support.builders import at
from tests.support.details import stored_detail

__all__ = [
    "JOBS",
    "NODES",
    "PODS",
    "an_entry",
    "between",
    "managed",
    "node",
    "pod",
    "the",
]

NODES = "v1/nodes"
PODS = "v1/pods"
JOBS = "batch/v1/jobs"

KINDS = {
    NODES: "Node",
    PODS: "Pod",
    JOBS: "Job",
    "v1/events": "Event",
    "janitor.dgxc.nvidia.com/v1alpha1/rebootnodes": "RebootNode",
}

Document = Mapping[str, Any]


def an_entry(
    resource: str,
    document: Any,
    operation: Operation = Operation.MODIFIED,
) -> Draft:
    """Return the entry of a document as intake would make it."""
    raw = orjson.dumps(document)
    return draft(
        read_object(raw, resource=Resource.parse(resource)),
        kind=KINDS.get(resource),
        operation=operation,
        observed_at=at(100),
        source="watch",
    )


def between(resource: str, old: Document, new: Document) -> list[Fact]:
    """Return the facts between two versions of an object."""
    before = state_of(orjson.dumps(old), resource)
    assert before is not None, "it has its kind's shape"
    return derive(an_entry(resource, new), before).facts


def the(facts: list[Fact]) -> tuple[FactKind, Mapping[str, Any]]:
    """Return the only fact, without who and when."""
    (fact,) = facts
    detail = {k: v for k, v in stored_detail(fact).items() if k != "by"}
    return fact.kind, detail


def node(**more: Any) -> dict[str, Any]:
    return _object("gpu-001", more)


def pod(**more: Any) -> dict[str, Any]:
    return _object("llm-0", more, namespace="train")


def _object(
    name: str, more: Mapping[str, Any], **metadata: Any
) -> dict[str, Any]:
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": "7",
            **metadata,
            **more.get("metadata", {}),
        },
        **{key: value for key, value in more.items() if key != "metadata"},
    }


def managed(
    manager: str,
    second: int,
    *fields: Mapping[str, Any],
    operation: str = "Update",
    subresource: str | None = None,
) -> dict[str, Any]:
    """Return what one writer owns."""
    owned: dict[str, Any] = {}
    for one in fields:
        owned |= one
    entry = {
        "manager": manager,
        "operation": operation,
        "time": f"2026-11-21T03:00:{second:02}Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": owned,
    }
    return entry | ({"subresource": subresource} if subresource else {})
