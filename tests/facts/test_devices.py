"""What devices of a ResourceSlice say of places, in each form of its API."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from recorder.facts.deriver import derive
from recorder.facts.state import State
from recorder.facts.topology import Topology, claimed_relation
from recorder.model.entry import Draft, Operation
from recorder.model.fact import Fact, FactKind, StoredFact
from recorder.model.place import Place
from recorder.model.reference import EntryName, ObjectIdentity

T0 = datetime(2026, 11, 20, tzinfo=UTC)
NODE = Place.parse("node/gpu-1")

LEAF = "coreweave.dra.net/leafSwitch"


def a_slice(version: str, **leaves: str) -> dict[str, Any]:
    """Return a slice with one device for each leaf, named as the device."""
    devices = []
    for name, leaf in leaves.items():
        # Of the domain of the driver, an attribute needs none.
        held = {"leafSwitch": {"string": leaf}, "rdma": {"bool": True}}
        held = {"attributes": {**held, "dra.example/rack": {"string": "r1"}}}
        held = {"basic": held} if version == "v1beta1" else held
        devices.append({"name": name, **held})
    return {
        "metadata": {"name": "gpu-1-nics", "uid": "u"},
        "spec": {
            "driver": "coreweave.dra.net",
            "nodeName": "gpu-1",
            "devices": devices,
        },
    }


def derived(
    document: dict[str, Any],
    before: State | None,
    operation: Operation,
    hour: int,
    version: str = "v1",
) -> tuple[list[StoredFact], State | None]:
    draft = Draft(
        source="watch",
        resource=f"resource.k8s.io/{version}/resourceslices",
        operation=operation,
        identity=ObjectIdentity(
            "resource.k8s.io", "ResourceSlice", "", "gpu-1-nics", "u"
        ),
        observed_at=T0.replace(hour=hour),
        raw=orjson.dumps(document),
    )
    facts, state = derive(draft, before)
    return [stored(fact, draft, n) for n, fact in enumerate(facts)], state


def stored(fact: Fact, draft: Draft, index: int) -> StoredFact:
    return StoredFact(
        entry=EntryName(1, draft.observed_at.hour),
        index=index,
        observed_at=draft.observed_at,
        fact=fact,
    )


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1beta2"])
def test_attributes_of_devices_are_relations_until_they_end(
    version: str,
) -> None:
    both = a_slice(version, mlx5_0="leaf-8", mlx5_1="leaf-9")
    story = [
        (Operation.ADDED, a_slice(version, mlx5_0="leaf-7")),
        (Operation.MODIFIED, a_slice(version, mlx5_0="leaf-8")),
        (Operation.MODIFIED, both),
        (Operation.DELETED, both),
    ]
    facts: list[StoredFact] = []
    state: State | None = None
    for hour, (operation, document) in enumerate(story, 1):
        found, state = derived(document, state, operation, hour, version)
        facts += found
        assert {one.fact.node for one in found} == {"gpu-1"}
    claims = [one for one in facts if one.fact.kind is FactKind.CLAIMED]
    topology = Topology(s for one in claims for s in claimed_relation(one))

    def parents(hour: int) -> list[str]:
        found = topology.parents(NODE, T0.replace(hour=hour))
        return [str(one) for one in found]

    assert parents(0) == []
    assert parents(1) == ["rack/r1", "switch/leaf-7"]
    assert parents(2) == ["rack/r1", "switch/leaf-8"]
    assert parents(3) == ["rack/r1", "switch/leaf-8", "switch/leaf-9"]
    assert parents(4) == []


def test_a_slice_that_changes_otherwise_relates_nothing() -> None:
    document = a_slice("v1", mlx5_0="leaf-7")
    _, state = derived(document, None, Operation.ADDED, 1)
    document["spec"]["devices"][0]["attributes"]["rdma"] = {"bool": False}
    found, _ = derived(document, state, Operation.MODIFIED, 2)
    assert found == []


@pytest.mark.parametrize("devices", [{"a": 1}, [1], [{"attributes": 3}], [{}]])
def test_devices_of_another_shape_say_nothing(devices: object) -> None:
    document = a_slice("v1")
    document["spec"]["devices"] = devices
    found, _ = derived(document, None, Operation.ADDED, 1)
    assert [one.fact.kind for one in found] == [FactKind.APPEARED]
