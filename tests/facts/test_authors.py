"""Who wrote a change, by managedFields: one, or none that is known."""

from pathlib import Path
from typing import Any

import orjson

from recorder.facts import derive, is_compared
from recorder.facts.classify.managers import moved_managers
from recorder.model.entry import Operation
from recorder.model.fact import Fact, FactKind
from recorder.model.facts import Appeared
from recorder.sources.tape import demo
from tests.corpus.playing import played
from tests.corpus.tape_lines import read_lines
from tests.explain.judged import facts_of
from tests.facts.versions import NODES, an_entry, between, managed, node
from tests.support.details import stored_detail

DEMO = Path(demo.__file__).with_name("demo.tape.jsonl.zst")

Owned = dict[str, Any]

CORDON: Owned = {"f:spec": {"f:unschedulable": {}}}
LABEL: Owned = {"f:metadata": {"f:labels": {"f:a": {}}}}
READY: Owned = {
    "f:status": {"f:conditions": {'k:{"type":"Ready"}': {"f:status": {}}}}
}
DEADLOCK: Owned = {
    "f:status": {"f:conditions": {'k:{"type":"KernelDeadlock"}': {".": {}}}}
}


def version(*writers: dict[str, Any], **more: Any) -> dict[str, Any]:
    labels = more.pop("labels", {})
    metadata = {"managedFields": list(writers), "labels": labels}
    return node(metadata=metadata, **more)


def authors(facts: list[Fact]) -> dict[FactKind, str | None]:
    return {fact.kind: fact.actor for fact in facts}


def test_the_only_manager_that_moved_wrote_everything() -> None:
    kubelet = managed("kubelet", 1, READY)
    facts = between(
        NODES,
        version(kubelet),
        version(
            kubelet,
            managed("kubectl", 5, CORDON),
            spec={"unschedulable": True},
            labels={"a": "1"},
        ),
    )
    assert set(authors(facts).values()) == {"kubectl"}
    assert stored_detail(facts[0])["by"] == {
        "manager": "kubectl",
        "operation": "Update",
        "subresource": "",
        "time": "2026-11-21T03:00:05Z",
    }


def held_by(*writers: dict[str, Any], **more: Any) -> dict[str, list[str]]:
    """Return what a list of Nodes shows of who wrote a Node, by manager."""
    listed = an_entry(NODES, version(*writers, **more), Operation.LISTED)
    (fact,) = derive(listed, None).facts
    assert isinstance(fact.detail, Appeared)
    return {
        f"{one.manager} {one.time[-3:-1]}": one.names
        for one in fact.detail.state.held
    }


def test_what_one_entry_owns_of_a_listed_node_has_its_manager_and_time() -> (
    None
):
    taint = {"key": "a", "effect": "NoSchedule"}
    both: Owned = {"f:spec": {"f:taints": {}, "f:unschedulable": {}}}
    spec = {"unschedulable": True, "taints": [taint]}
    kubelet = managed("kubelet", 1, READY)
    assert held_by(kubelet, managed("fixer", 5, both), spec=spec) == {
        "fixer 05": ["unschedulable", "taints"]
    }
    two = {**spec, "taints": [taint, {**taint, "key": "b"}]}
    assert held_by(managed("fixer", 5, both), spec=two) == {
        "fixer 05": ["unschedulable"]
    }
    assert held_by(managed("fixer", 5, both), spec={}) == {}
    owners = managed("fixer", 5, CORDON), managed("other", 6, CORDON)
    assert held_by(*owners, spec={"unschedulable": True}) == {}


def test_of_several_that_moved_the_owner_of_the_field_wrote_it() -> None:
    facts = between(
        NODES,
        version(managed("kubelet", 1, READY)),
        version(
            managed("kubelet", 6, READY),
            managed("kubectl", 5, CORDON),
            managed("labeller", 5, LABEL),
            spec={"unschedulable": True},
            labels={"a": "1"},
        ),
    )
    assert authors(facts) == {
        FactKind.CORDONED: "kubectl",
        FactKind.LABEL_CHANGED: "labeller",
    }


def test_of_two_that_own_a_field_none_is_known() -> None:
    facts = between(
        NODES,
        version(),
        version(
            managed("kubectl", 5, CORDON),
            managed("another", 5, CORDON),
            spec={"unschedulable": True},
        ),
    )
    assert authors(facts) == {FactKind.CORDONED: None}


def test_an_uncordon_that_leaves_no_entry_has_no_author() -> None:
    kubelet = managed("kubelet", 1, READY)
    facts = between(
        NODES,
        version(
            kubelet,
            managed("kubectl", 5, CORDON),
            spec={"unschedulable": True},
        ),
        version(kubelet, spec={}),
    )
    assert authors(facts) == {FactKind.UNCORDONED: None}


def test_two_writes_of_one_within_a_second_have_its_only_owner() -> None:
    writers = [managed("kubelet", 5, READY), managed("labeller", 5, LABEL)]
    facts = between(
        NODES,
        version(*writers, labels={"a": "1"}),
        version(*writers, labels={"a": "2"}),
    )
    assert authors(facts) == {FactKind.LABEL_CHANGED: "labeller"}


def test_conditions_are_distinguished_by_their_type() -> None:
    def conditions(status: str) -> dict[str, Any]:
        return {
            "conditions": [
                {"type": kind, "status": status}
                for kind in ("Ready", "KernelDeadlock")
            ]
        }

    facts = between(
        NODES,
        version(status=conditions("False")),
        version(
            managed("kubelet", 5, READY),
            managed("node-problem-detector", 5, DEADLOCK),
            status=conditions("True"),
        ),
    )
    assert {stored_detail(f)["type"]: f.actor for f in facts} == {
        "Ready": "kubelet",
        "KernelDeadlock": "node-problem-detector",
    }


def test_an_author_is_one_of_those_who_wrote_the_version() -> None:
    """A history names them all; it has no second write within a second."""
    drafts = played(read_lines(DEMO)).drafts
    newest: dict[Any, Any] = {}
    wrote: dict[int, list[tuple[str, str, str]]] = {}
    for position, draft in enumerate(drafts, start=1):
        if is_compared(draft):
            key = draft.resource, draft.identity
            old, new = newest.get(key), orjson.loads(draft.raw)
            wrote[position] = [
                (m.name, m.operation or "", m.subresource or "")
                for m in moved_managers(old, new)
            ]
            newest[key] = new
    pairs = [
        ((by["manager"], by["operation"], by["subresource"]), wrote[place])
        for fact in facts_of(drafts)
        if (by := stored_detail(fact.fact).get("by"))
        for place in [fact.entry.position]
    ]
    assert sum(author in writers for author, writers in pairs) > 20
    assert [pair for pair in pairs if pair[1] and pair[0] not in pair[1]] == []
