"""The state of one node, as its facts make it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from recorder.model import facts
from recorder.model.fact import Fact, StoredFact
from recorder.model.facts import Appeared
from recorder.model.state import Condition, ObjectState, Scalar

NODE_TAINTS = "node.kubernetes.io/"
"""Prefix of the taints that mark a node as unfit."""

TROUBLE = (
    NODE_TAINTS,
    "node.cloudprovider.kubernetes.io/",
    "remediation.medik8s.io/",
    "medik8s.io/",
    "aws-node-termination-handler/",
    "karpenter.sh/",
    "ToBeDeletedByClusterAutoscaler",
    "amd-gpu-unhealthy",
)
"""Prefixes of taints that are never permanent: a log may begin while they
hold."""

BLOCKING = frozenset({"NoSchedule", "NoExecute"})
_READY = "Ready"

Value = TypeVar("Value")


class NodeState(msgspec.Struct, frozen=True, gc=False):
    """What is known of a node after some of its facts."""

    present: bool = False
    uid: str | None = None
    boot_id: str | None = None
    fields: Mapping[str, Scalar] = {}
    """Machine, kernel and other versions."""

    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    conditions: Mapping[str, Condition] = {}
    taints: Mapping[str, str | None] = {}
    """Values by ``KEY:EFFECT``."""

    standing: frozenset[str] = frozenset()
    """Taints that existed when the node was first seen: they control who may
    use it, and do not mark it as unfit."""

    resources: Mapping[str, str] = {}
    cordoned: bool = False

    @property
    def ready(self) -> str | None:
        """The status of the condition Ready."""
        ready = self.conditions.get(_READY)
        return None if ready is None else ready.status

    @property
    def blocked_by(self) -> list[str]:
        """Taints that keep work away."""
        return sorted(
            name
            for name in self.taints
            if name.rpartition(":")[2] in BLOCKING
            and name not in self.standing
        )

    @property
    def in_service(self) -> bool:
        """Whether work may come and can run."""
        return (
            self.present
            and self.ready == "True"
            and not self.cordoned
            and not self.blocked_by
        )


def shown(state: ObjectState) -> NodeState:
    """Return a Node as a version of it shows it."""
    taints = {f"{t.key}:{t.effect}": t.value for t in state.taints}
    boot = state.fields.get("boot_id")
    return NodeState(
        present=True,
        uid=state.uid,
        boot_id=str(boot) if boot else None,
        fields=state.fields,
        labels=state.labels,
        annotations=state.annotations,
        conditions=state.conditions,
        taints=taints,
        standing=frozenset(
            name for name in taints if not name.startswith(TROUBLE)
        ),
        resources=state.resources,
        cordoned=bool(state.fields.get("unschedulable")),
    )


def advance(state: NodeState, fact: Fact) -> NodeState:
    """Return the state after a fact about the Node itself."""
    if isinstance(fact.detail, facts.Appeared):
        return shown(fact.detail.state)
    step = _STEPS.get(type(fact.detail))
    if step is None:
        return state
    return replace(state, **step(state, fact.detail))


Changed = dict[str, Any]


def _vanished(_: NodeState, __: facts.Vanished) -> Changed:
    return {"present": False}


def _condition(state: NodeState, detail: facts.ConditionChanged) -> Changed:
    return {"conditions": _with(state.conditions, detail.type, detail.new)}


def _label(state: NodeState, detail: facts.LabelChanged) -> Changed:
    return {"labels": _with(state.labels, detail.key, detail.new)}


def _annotation(state: NodeState, detail: facts.AnnotationChanged) -> Changed:
    return {"annotations": _with(state.annotations, detail.key, detail.new)}


def _field(
    state: NodeState, detail: facts.FieldChanged | facts.MachineChanged
) -> Changed:
    return {"fields": _with(state.fields, detail.field, detail.new)}


def _boot(state: NodeState, detail: facts.BootChanged) -> Changed:
    fields = _with(state.fields, "boot_id", detail.new)
    return {"boot_id": detail.new, "fields": fields}


def _tainted(state: NodeState, detail: facts.Tainted) -> Changed:
    name = f"{detail.key}:{detail.effect}"
    return {
        "taints": {**state.taints, name: detail.value},
        "standing": state.standing - {name},
    }


def _untainted(state: NodeState, detail: facts.Untainted) -> Changed:
    name = f"{detail.key}:{detail.effect}"
    taints = _with(state.taints, name, None)
    return {"taints": taints, "standing": state.standing - {name}}


def _cordoned(_: NodeState, __: facts.Cordoned) -> Changed:
    return {"cordoned": True}


def _uncordoned(_: NodeState, __: facts.Uncordoned) -> Changed:
    return {"cordoned": False}


def _resource(state: NodeState, detail: facts.ResourceChanged) -> Changed:
    name = f"{detail.list}/{detail.resource}"
    return {"resources": _with(state.resources, name, detail.new)}


def _with(
    entries: Mapping[str, Value], name: str, value: Value | None
) -> Mapping[str, Value]:
    """Return entries with one set to a value, or removed for None."""
    found = dict(entries)
    if value is None:
        found.pop(name, None)
    else:
        found[name] = value
    return found


_STEPS: Mapping[type[facts.Detail], Callable[[NodeState, Any], Changed]] = {
    facts.Vanished: _vanished,
    facts.ConditionChanged: _condition,
    facts.LabelChanged: _label,
    facts.AnnotationChanged: _annotation,
    facts.FieldChanged: _field,
    facts.MachineChanged: _field,
    facts.BootChanged: _boot,
    facts.Tainted: _tainted,
    facts.Untainted: _untainted,
    facts.Cordoned: _cordoned,
    facts.Uncordoned: _uncordoned,
    facts.ResourceChanged: _resource,
}


def provider_of(facts: Iterable[StoredFact], base: NodeState) -> str | None:
    """Return the provider ID of a Node, as it was shown first."""
    shown = (
        stored.fact.detail.state.fields
        for stored in facts
        if isinstance(stored.fact.detail, Appeared)
        and stored.fact.about == "Node"
    )
    found = (fields.get("provider_id") for fields in (base.fields, *shown))
    return next((str(one) for one in found if one), None)
