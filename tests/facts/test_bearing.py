"""What a fact has to do with its node."""

import pytest

from recorder.facts import is_evidence, place_of
from recorder.model.fact import Fact, FactKind
from recorder.model.reference import ObjectIdentity
from tests.support.details import detail_of

POD = ObjectIdentity("", "Pod", "train", "llm-0", "u-1")
NODE = ObjectIdentity("", "Node", "", "gpu-001", "u-2")
JOB = ObjectIdentity("batch", "Job", "train", "llm", "u-3")


def fact(
    kind: FactKind,
    thing: ObjectIdentity | None,
    actor: str | None = None,
    **detail: object,
) -> Fact:
    return Fact(
        kind=kind,
        node="gpu-001",
        object=thing,
        actor=actor,
        detail=detail_of(kind, detail),
    )


DAILY = [
    fact(FactKind.APPEARED, POD, created=True, state={}),
    fact(FactKind.BOUND, POD, node="gpu-001", old=None),
    fact(FactKind.STARTED, POD),
    fact(FactKind.ENDED, POD, phase="Succeeded"),
    fact(FactKind.VANISHED, POD, inferred=False, state={}),
    fact(FactKind.CONDITION_CHANGED, POD, type="Ready", old=None, new=None),
    fact(FactKind.CONTAINER_ENDED, POD, container="a", reason="Completed"),
    fact(FactKind.EVENT, POD, "kubelet", reason="Pulled", message=""),
    fact(FactKind.EVENT, POD, "default-scheduler", reason="Scheduled"),
]
EVIDENCE = [
    fact(FactKind.APPEARED, NODE, created=True, state={}),
    fact(FactKind.LABEL_CHANGED, NODE, key="a", old=None, new="b"),
    fact(FactKind.EVENT, NODE, "kubelet", reason="Starting", message=""),
    fact(FactKind.LEASE_SILENT, None),
    fact(
        FactKind.CONDITION_CHANGED,
        POD,
        type="DisruptionTarget",
        old=None,
        new={},
    ),
    fact(FactKind.CONTAINER_ENDED, POD, container="a", reason="OOMKilled"),
    fact(FactKind.EVENT, POD, "karpenter", reason="SpotInterrupted"),
    fact(FactKind.REQUESTED, POD, verb="create"),
    fact(FactKind.CONDITION_CHANGED, JOB, type="Failed", old=None, new=None),
]


@pytest.mark.parametrize("daily", DAILY)
def test_the_daily_life_of_a_pod_is_no_evidence_about_its_node(
    daily: Fact,
) -> None:
    assert not is_evidence(daily)


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_everything_else_may(evidence: Fact) -> None:
    assert is_evidence(evidence)


def test_a_place_is_the_labels_that_locate_a_node() -> None:
    labels = {
        "topology.kubernetes.io/zone": "eu-1a",
        "example.com/rack": "r7",
        "kubernetes.io/os": "linux",
    }
    state = {"labels": labels}

    found = place_of(fact(FactKind.APPEARED, NODE, created=True, state=state))

    assert found == {
        "topology.kubernetes.io/zone": "eu-1a",
        "example.com/rack": "r7",
    }


def test_a_node_without_such_labels_has_an_empty_place() -> None:
    bare = fact(FactKind.APPEARED, NODE, created=True, state={})

    assert place_of(bare) == {}


@pytest.mark.parametrize(
    "other",
    [
        fact(FactKind.APPEARED, POD, created=True, state={}),
        fact(FactKind.LABEL_CHANGED, NODE, key="a", old=None, new="b"),
    ],
)
def test_nothing_else_has_a_place(other: Fact) -> None:
    assert place_of(other) is None
