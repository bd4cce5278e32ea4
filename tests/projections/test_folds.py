"""A fold that stops and resumes anywhere ends the same."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.facts.projections import (
    NodeState,
    Placement,
    Placements,
    Workloads,
    advance,
)
from recorder.model.fact import FactKind, StoredFact
from recorder.model.reference import ObjectIdentity
from recorder.model.state import Owner
from tests.corpus.make import TAPES
from tests.corpus.tape_lines import read_lines
from tests.explain.judged import judged
from tests.explain.tale import Tale
from tests.support.builders import at

FACTS = [
    list(judged(read_lines(TAPES / f"{name}.tape.jsonl.zst")).facts)
    for name in ("crash", "jobset-fails", "rejoined")
]
cuts = st.tuples(st.sampled_from(FACTS), st.integers(0, 400))


def copied(state: NodeState) -> NodeState:
    """Return a state as it comes back from where it was kept."""
    kept = msgspec.msgpack.encode(state)
    return msgspec.msgpack.decode(kept, type=NodeState)


@settings(max_examples=60, deadline=None)
@given(cuts)
def test_a_node_is_folded_the_same_with_a_rest_on_the_way(
    cut: tuple[list[StoredFact], int],
) -> None:
    facts, place = cut
    whole: dict[str, NodeState] = {}
    parted: dict[str, NodeState] = {}
    for number, stored in enumerate(facts):
        name = stored.fact.node
        thing = stored.fact.object
        if number == place:
            parted = {key: copied(state) for key, state in parted.items()}
        if name is None or thing is None or thing.kind != "Node":
            continue
        for states in (whole, parted):
            before = states.get(name, NodeState())
            states[name] = advance(before, stored.fact)
    assert whole == parted


@settings(max_examples=60, deadline=None)
@given(cuts)
def test_placements_are_folded_the_same_with_a_rest_on_the_way(
    cut: tuple[list[StoredFact], int],
) -> None:
    facts, place = cut
    parted = Placements(facts[:place])
    for stored in facts[place:]:
        parted.take(stored)
    assert list(parted) == list(Placements(facts))


@settings(max_examples=30, deadline=None)
@given(cuts)
def test_workloads_are_folded_the_same_with_a_rest_on_the_way(
    cut: tuple[list[StoredFact], int],
) -> None:
    facts, place = cut
    whole, parted = Workloads(facts), Workloads(facts[:place])
    for stored in facts[place:]:
        parted.take(stored)
    for placement in Placements(facts):
        workload = whole.of(placement)
        assert parted.of(placement) == workload
        if workload is not None:
            assert parted.failed_at(workload) == whole.failed_at(workload)
            assert parted.entries(workload) == whole.entries(workload)


def state_after(tale: Tale) -> NodeState:
    state = NodeState()
    for stored in tale.facts:
        state = advance(state, stored.fact)
    return state


def test_a_node_in_service_is_there_ready_and_open() -> None:
    assert not NodeState().in_service
    assert state_after(Tale()).in_service
    assert not state_after(Tale().lost(1)).in_service
    assert not state_after(Tale().cordons(1)).in_service
    assert not state_after(Tale().taints(1, "a", "NoExecute")).in_service
    assert state_after(Tale().taints(1, "a", "PreferNoSchedule")).in_service
    assert not state_after(Tale().vanishes(1)).in_service


def test_a_taint_that_was_there_first_keeps_no_pod_out() -> None:
    taint = {"key": "mine", "value": None, "effect": "NoSchedule"}
    tainted = Tale().appears(1, taints=[taint])
    assert state_after(tainted).in_service
    for key in (
        "node.kubernetes.io/not-ready",
        "remediation.medik8s.io/self-node-remediation",
        "aws-node-termination-handler/spot-itn",
    ):
        sick = Tale().appears(1, taints=[taint | {"key": key}])
        assert not state_after(sick).in_service
    again = tainted.taints(2, "mine", off=True).taints(3, "mine")
    assert state_after(again).blocked_by == ["mine:NoSchedule"]


def test_a_pod_is_placed_from_its_binding_to_its_end() -> None:
    tale = Tale().pod_runs(5, "llm-0", "n1").pod_ends(50, "llm-0", "n1", 1)
    (placement,) = Placements(tale.facts)
    assert placement.was_on(at(10), at(20))
    assert not placement.was_on(at(60), at(70))
    assert placement.runs_at(at(20))
    assert not placement.runs_at(at(50))
    assert placement.exit_codes == [1]


def test_a_disruption_after_the_end_disrupted_nothing() -> None:
    tale = Tale().pod_runs(5, "llm-0", "n1").pod_ends(50, "llm-0", "n1", 1)
    tale.pod(90, "DeletionByTaintManager", name="llm-0")
    (placement,) = Placements(tale.facts)
    assert placement.disruption is None


@pytest.mark.parametrize(
    ("owner", "kind"),
    [
        ("PodClique", "PodCliqueSet"),  # labels name its set
        ("ReplicaSet", "ReplicaSet"),
        (None, "Pod"),
    ],
)
def test_a_common_label_names_a_workload_only_for_a_kind_that_sets_it(
    owner: str | None, kind: str
) -> None:
    placement = Placement(
        pod=ObjectIdentity("", "Pod", "inference", "llm-0", "uid-0"),
        labels={"app.kubernetes.io/part-of": "llm"},
    )
    if owner is not None:
        placement.owners = [
            Owner(kind=owner, name="x", uid="uid-x", controller=True)
        ]
    workload = Workloads([]).of(placement)
    assert workload is not None
    assert workload.kind == kind


def test_events_about_a_pod_place_nothing() -> None:
    tale = Tale().event(5, "kubelet", "Started", about="Pod")
    assert tale.facts[-1].fact.kind is FactKind.EVENT
    assert list(Placements(tale.facts)) == []
