"""The state of an object is that of its last document."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from recorder.facts import State, appearance, derive, is_compared, state_of
from recorder.facts.projections import NodeState, advance
from recorder.facts.texts import TEXT_CHARACTERS_MAX
from recorder.model.entry import Draft, Operation
from recorder.model.fact import Fact, FactKind
from tests.corpus.make import TAPES
from tests.corpus.playing import played
from tests.corpus.tape_lines import read_lines
from tests.facts.versions import NODES, PODS, between, node, pod
from tests.support.details import stored_detail

RECORDED = (
    "crash",
    "drain-audited",
    "driver-upgrade",
    "kueue-preemption",
    "rejoined",
    "two-reboots",
)

STATED = "2026-11-20T10:06:00Z"


def steps(name: str) -> Iterator[tuple[Draft, list[Fact], State | None]]:
    """Derive the entries of a tape that are compared."""
    states: dict[Any, State] = {}
    tape = read_lines(TAPES / f"{name}.tape.jsonl.zst")
    for draft in played(tape).drafts:
        if not is_compared(draft):
            continue
        key = draft.resource, draft.identity
        facts, state = derive(draft, states.get(key))
        if state is None:
            states.pop(key, None)
        else:
            states[key] = state
        yield draft, facts, state


@pytest.mark.parametrize("name", RECORDED)
def test_the_state_after_an_entry_is_that_of_its_document(name: str) -> None:
    for draft, _, state in steps(name):
        if draft.operation in {Operation.DELETED, Operation.ABSENT}:
            assert state is None
        else:
            assert state == state_of(draft.raw, draft.resource or "")


@pytest.mark.parametrize("name", RECORDED)
def test_folded_facts_make_the_node_of_the_document(name: str) -> None:
    nodes: dict[str, NodeState] = {}
    checked = 0
    for draft, facts, state in steps(name):
        if draft.resource != NODES or draft.identity is None:
            continue
        folded = nodes.get(draft.identity.name, NodeState())
        for fact in facts:
            folded = advance(folded, fact)
        nodes[draft.identity.name] = folded
        if state is None:
            assert not folded.present
            continue
        assert timeless(folded) == timeless(seen(draft))
        checked += 1
    assert checked > len(nodes)


def seen(draft: Draft) -> NodeState:
    """Return the node as its document alone shows it."""
    detail = appearance(draft.raw, NODES)
    assert detail is not None, "it is a Node"
    fact = Fact(kind=FactKind.APPEARED, node=None, object=None, detail=detail)
    return advance(NodeState(), fact)


def timeless(state: NodeState) -> dict[str, Any]:
    """Leave out what only history has: since when, and what was first."""
    return {
        "uid": state.uid,
        "boot_id": state.boot_id,
        "fields": {
            name: value
            for name, value in state.fields.items()
            if name != "unschedulable"
        },
        "labels": dict(state.labels),
        "annotations": dict(state.annotations),
        "taints": dict(state.taints),
        "resources": dict(state.resources),
        "cordoned": state.cordoned,
        "conditions": {
            name: (c.status, c.reason, c.message)
            for name, c in state.conditions.items()
        },
    }


def test_a_text_without_end_is_cut_and_says_so() -> None:
    long = "x" * 100_000
    (fact,) = between(
        NODES, node(), node(metadata={"annotations": {"a": long}})
    )
    assert len(stored_detail(fact)["new"]) < TEXT_CHARACTERS_MAX + 30
    assert stored_detail(fact)["new"].endswith("(100000 characters)")


def test_what_a_pod_asks_for_is_counted_over_its_containers() -> None:
    containers = [
        {"resources": {"limits": {"nvidia.com/gpu": "4"}}},
        {"resources": {"requests": {"amd.com/gpu": 2}}},
        {"resources": {"limits": {"cpu": "4", "nvidia.com/gpu": "many"}}},
        {},
    ]
    state = state_of(orjson.dumps(pod(spec={"containers": containers})), PODS)
    assert state is not None
    assert state.gpus == 6


def test_what_runs_beside_counts_and_what_runs_before_only_if_it_is_more() -> (
    None
):
    def asks(gpus: int, **more: str) -> dict[str, Any]:
        return {"resources": {"limits": {"nvidia.com/gpu": gpus}}, **more}

    def held(*first: dict[str, Any]) -> int:
        spec = {"containers": [asks(6)], "initContainers": list(first)}
        state = state_of(orjson.dumps(pod(spec=spec)), PODS)
        assert state is not None
        return state.gpus

    beside = asks(1, restartPolicy="Always")
    assert held(asks(6)) == 6
    assert held(asks(8)) == 8
    assert held(beside, beside) == 8
    assert held(beside, asks(7)) == 8


@pytest.mark.parametrize(
    ("status", "ended_at"),
    [
        # Volcano, Spark, Ray.
        ({"state": {"phase": "Failed", "lastTransitionTime": STATED}}, STATED),
        ({"state": {"phase": "Running", "lastTransitionTime": STATED}}, None),
        (
            {
                "applicationState": {"state": "FAILED"},
                "terminationTime": STATED,
            },
            STATED,
        ),
        ({"jobStatus": "FAILED", "endTime": STATED}, STATED),
    ],
)
def test_work_that_is_over_has_the_time_that_its_status_states(
    status: dict[str, Any], ended_at: str | None
) -> None:
    made = {"metadata": {"name": "llm", "uid": "u"}, "status": status}
    state = state_of(orjson.dumps(made), "x.example.net/v1/trainings")
    assert state is not None
    assert state.fields.get("completion_time") == ended_at
