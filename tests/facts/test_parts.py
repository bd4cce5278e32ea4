"""Parts that are written as before are taken from there, and nothing else."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.facts import State, derive
from recorder.facts.state import read_state, read_wire
from recorder.model.fact import FactKind
from recorder.model.reference import Resource
from tests.facts.versions import JOBS, NODES, PODS, an_entry, managed
from tests.support.details import stored_detail

texts = st.dictionaries(
    st.sampled_from(["a", "b", "nvidia.com/gpu"]),
    st.sampled_from(["1", "2"]),
    max_size=2,
)
containers = st.lists(
    st.builds(lambda limits: {"resources": {"limits": limits}}, texts),
    max_size=2,
)
metadata = st.fixed_dictionaries(
    {"name": st.just("x")},
    optional={
        "labels": st.none() | texts,
        "annotations": texts,
        "ownerReferences": st.lists(
            st.fixed_dictionaries({"uid": st.sampled_from("uv")}), max_size=1
        ),
        "managedFields": st.lists(
            st.builds(
                managed,
                st.sampled_from(["kubelet", "kubectl"]),
                st.integers(1, 2),
                st.just({"f:status": {}}),
            ),
            max_size=2,
        ),
    },
)
documents = st.fixed_dictionaries(
    {"metadata": metadata},
    optional={
        "spec": st.fixed_dictionaries(
            {},
            optional={
                "unschedulable": st.booleans(),
                "providerID": st.sampled_from(["p", "q"]),
                "containers": containers,
                "initContainers": containers,
            },
        ),
        "status": st.fixed_dictionaries(
            {},
            optional={
                "capacity": texts,
                "allocatable": texts,
                "nodeInfo": st.fixed_dictionaries(
                    {"bootID": st.sampled_from(["one", "two"])}
                ),
                "conditions": st.lists(
                    st.fixed_dictionaries(
                        {
                            "type": st.sampled_from(["Ready", "Failed"]),
                            "status": st.sampled_from(["True", "False"]),
                        }
                    ),
                    max_size=2,
                ),
            },
        ),
    },
)


def state(
    resource: str, document: dict[str, Any], before: State | None
) -> State:
    of = Resource.parse(resource)
    return read_state(read_wire(orjson.dumps(document), of, None), of, before)


@pytest.mark.parametrize("resource", [NODES, PODS, JOBS])
@given(versions=st.lists(documents, min_size=2, max_size=5))
def test_a_state_is_the_same_whatever_was_before(
    resource: str, versions: list[dict[str, Any]]
) -> None:
    before = None
    for version in versions:
        before = state(resource, version, before)
        assert before == state(resource, version, None)


def test_what_is_written_as_before_is_not_kept_twice() -> None:
    document: dict[str, Any] = {
        "metadata": {"labels": {"a": "1"}, "annotations": {"b": "2"}},
        "status": {"capacity": {"cpu": "8"}},
    }
    before = state(NODES, document, None)
    document["spec"] = {"taints": [{"key": "t", "effect": "NoSchedule"}]}
    after = state(NODES, document, before)
    assert after.labels is before.labels
    assert after.annotations is before.annotations
    assert after.resources is before.resources
    assert after.taints


@pytest.mark.parametrize(
    ("resource", "document", "path"),
    [
        (PODS, {"metadata": {"labels": {"a": 1}}}, "$.metadata.labels[...]"),
        (PODS, {"metadata": {"labels": 1}}, "$.metadata.labels"),
        (JOBS, {"metadata": {"ownerReferences": {}}}, "ownerReferences"),
        (NODES, {"status": {"capacity": []}}, "$.status.capacity"),
        (NODES, {"status": {"nodeInfo": []}}, "$.status.nodeInfo"),
        (PODS, {"spec": {"containers": [1]}}, "$.spec.containers[0]"),
    ],
)
def test_a_part_that_cannot_be_read_is_named_with_its_place(
    resource: str, document: dict[str, Any], path: str
) -> None:
    metadata = {"name": "x", **document.pop("metadata", {})}
    entry = an_entry(resource, {"metadata": metadata, **document})
    (fact,) = derive(entry, None).facts
    assert fact.kind is FactKind.UNREADABLE
    assert path in stored_detail(fact)["why"]
