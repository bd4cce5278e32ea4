"""Heartbeats: which updates of Nodes and Leases changed nothing else."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.facts.classify import lease_renewed_at, node_ready, substance
from recorder.model.reference import Resource
from tests.classify import documents
from tests.classify.documents import compact
from tests.classify.examples import LEASES, NODES, PODS, at

Path = tuple[str | int, ...]

RESOURCES = {"node": Resource.parse(NODES), "lease": Resource.parse(LEASES)}
HEARTBEAT = {
    "node": (
        ("metadata", "resourceVersion"),
        ("metadata", "managedFields", int, "time"),
        ("status", "images"),
        ("status", "conditions", int, "lastHeartbeatTime"),
    ),
    "lease": (
        ("metadata", "resourceVersion"),
        ("metadata", "managedFields", int, "time"),
        ("spec", "renewTime"),
    ),
}
WHAT_IT_IS = {("kind",), ("apiVersion",)}


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of everything within a document."""
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in pairs:
        yield (*path, key)
        yield from places(inner, (*path, key))


def is_heartbeat(name: str, path: Path) -> bool:
    return any(
        len(path) >= len(field)
        and all(
            isinstance(part, int) if wanted is int else part == wanted
            for part, wanted in zip(path, field, strict=False)
        )
        for field in HEARTBEAT[name]
    )


PLACES = {
    name: [
        path
        for path in places(getattr(documents, name)())
        if path not in WHAT_IT_IS
    ]
    for name in RESOURCES
}
VALUES: tuple[Any, ...] = ("another", 7, None, [], {})


def holder_of(document: Any, path: Path) -> Any:
    for part in path[:-1]:
        document = document[part]
    return document


@pytest.mark.parametrize("name", RESOURCES)
@pytest.mark.parametrize("value", VALUES)
def test_another_value_is_substance_unless_its_field_is_on_the_list(
    name: str, value: Any
) -> None:
    original = getattr(documents, name)()
    before = substance(compact(original), RESOURCES[name])

    for path in PLACES[name]:
        document = copy.deepcopy(original)
        holder_of(document, path)[path[-1]] = value
        after = substance(compact(document), RESOURCES[name])

        folds = is_heartbeat(name, path) or document == original
        assert (after == before) is folds, path


@pytest.mark.parametrize("name", RESOURCES)
def test_a_missing_value_is_substance_unless_its_field_is_on_the_list(
    name: str,
) -> None:
    original = getattr(documents, name)()
    before = substance(compact(original), RESOURCES[name])

    for path in PLACES[name]:
        document = copy.deepcopy(original)
        del holder_of(document, path)[path[-1]]
        after = substance(compact(document), RESOURCES[name])

        assert (after == before) is is_heartbeat(name, path), path


@pytest.mark.parametrize("name", RESOURCES)
def test_a_new_field_is_substance_wherever_it_appears(name: str) -> None:
    original = getattr(documents, name)()
    before = substance(compact(original), RESOURCES[name])

    for path in PLACES[name]:
        document = copy.deepcopy(original)
        holder = holder_of(document, path)
        if isinstance(holder, dict):
            holder["ofTheFuture"] = 1
            after = substance(compact(document), RESOURCES[name])

            folds = is_heartbeat(name, (*path[:-1], "ofTheFuture"))
            assert (after == before) is folds, path


@pytest.mark.parametrize("name", RESOURCES)
def test_all_heartbeat_fields_together_are_no_substance(name: str) -> None:
    document = getattr(documents, name)()
    before = substance(compact(document), RESOURCES[name])

    document["metadata"]["resourceVersion"] = "999999"
    for entry in document["metadata"]["managedFields"]:
        entry["time"] = "2026-03-01T04:00:00Z"
    for condition in document.get("status", {}).get("conditions", ()):
        condition["lastHeartbeatTime"] = "2026-03-01T04:00:00Z"
    document.get("status", {})["images"] = []
    document["spec"]["renewTime"] = "2026-03-01T04:00:00.000000Z"
    if name == "node":
        del document["spec"]["renewTime"]

    assert before is not None
    assert len(before) == 16
    assert substance(compact(document), RESOURCES[name]) == before


@pytest.mark.parametrize("name", RESOURCES)
def test_an_item_of_a_list_has_the_same_substance(name: str) -> None:
    document = getattr(documents, name)()
    before = substance(compact(document), RESOURCES[name])
    del document["kind"], document["apiVersion"]
    backwards = dict(reversed(document.items()))
    backwards["metadata"] = dict(reversed(document["metadata"].items()))

    assert substance(compact(document), RESOURCES[name]) == before
    assert substance(compact(backwards), RESOURCES[name]) == before


@pytest.mark.parametrize(
    "resource", [PODS, "v1/events", "metrics.k8s.io/v1/nodes", "v1/leases"]
)
def test_nothing_else_is_ever_folded(resource: str) -> None:
    raw = compact(documents.node())

    assert substance(raw, Resource.parse(resource)) is None


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"{",
        b'{"metadata":{"managedFields":[7]}}',
        b'{"metadata":{"managedFields":{}}}',
        b'{"status":{"conditions":["Ready"]}}',
        b'{"status":{"conditions":"Ready"}}',
        b'{"x":1e999999}',
        b"[" * 200_000,
    ],
)
def test_what_is_built_strangely_is_not_folded(raw: bytes) -> None:
    assert substance(raw, RESOURCES["node"]) is None
    assert node_ready(raw) is None
    assert lease_renewed_at(raw) is None


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=5), inner, max_size=3),
    ),
    max_leaves=8,
)
objects = st.fixed_dictionaries(
    {},
    optional={
        "metadata": st.one_of(
            json_values,
            st.fixed_dictionaries(
                {}, optional={"managedFields": json_values, "x": json_values}
            ),
        ),
        "spec": json_values,
        "status": st.one_of(
            json_values,
            st.fixed_dictionaries(
                {}, optional={"conditions": json_values, "x": json_values}
            ),
        ),
        "x": json_values,
    },
)


@given(objects, objects)
def test_documents_of_one_substance_differ_in_heartbeats_only(
    one: Any, other: Any
) -> None:
    for resource in RESOURCES.values():
        first = substance(compact_any(one), resource)
        second = substance(compact_any(other), resource)

        if first is not None and one != other:
            assert first != second


def compact_any(document: Any) -> bytes:
    """Encode integers of any size as well."""
    return json.dumps(document, separators=(",", ":")).encode()


def test_the_renewal_of_a_lease_is_read() -> None:
    raw = compact(documents.lease())

    assert lease_renewed_at(raw) == at("2026-03-01T03:14:05.123456Z")
    assert lease_renewed_at(b'{"spec":{"renewTime":"0001-01-01"}}') is None
    assert lease_renewed_at(b'{"spec":{"renewTime":5}}') is None
    assert lease_renewed_at(b"{}") is None


def test_the_readiness_of_a_node_is_read() -> None:
    node = documents.node()
    assert node_ready(compact(node)) == "True"

    node["status"]["conditions"][-1]["status"] = "Unknown"
    assert node_ready(compact(node)) == "Unknown"

    del node["status"]["conditions"][-1]
    assert node_ready(compact(node)) is None
    del node["status"]
    assert node_ready(compact(node)) is None
