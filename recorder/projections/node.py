"""The state of one node, as its facts make it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from recorder.model.fact import Fact, FactKind

__all__ = ["NODE_TAINTS", "NodeState", "advance"]

NODE_TAINTS = "node.kubernetes.io/"
"""Prefix of the taints that say that a node is not fit."""

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
"""Prefixes of taints that never stand: a log may begin while they hold."""

BLOCKING = frozenset({"NoSchedule", "NoExecute"})
_READY = "Ready"


class NodeState(msgspec.Struct, frozen=True, gc=False):
    """What is known of a node after some of its facts."""

    present: bool = False
    uid: str | None = None
    boot_id: str | None = None
    fields: Mapping[str, Any] = {}
    """Machine, kernel and other versions."""

    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    conditions: Mapping[str, Mapping[str, Any]] = {}
    taints: Mapping[str, str | None] = {}
    """Values by ``KEY:EFFECT``."""

    standing: frozenset[str] = frozenset()
    """Taints that were there when the node was first seen: they say who may
    use it, not that it is unfit."""

    resources: Mapping[str, str] = {}
    cordoned: bool = False

    @property
    def ready(self) -> str | None:
        """The status of the condition Ready."""
        status = self.conditions.get(_READY, {}).get("status")
        return None if status is None else str(status)

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


def advance(state: NodeState, fact: Fact) -> NodeState:
    """Return the state after a fact about the Node itself."""
    step = _STEPS.get(fact.kind)
    if step is None:
        return state
    return msgspec.structs.replace(state, **step(state, fact.detail))


Detail = Mapping[str, Any]
Changed = dict[str, Any]


def _appeared(_: NodeState, detail: Detail) -> Changed:
    seen = detail["state"]
    fields = seen.get("fields", {})
    taints = {
        f"{taint['key']}:{taint['effect']}": taint["value"]
        for taint in seen.get("taints", [])
    }
    return {
        "present": True,
        "uid": seen.get("uid"),
        "boot_id": fields.get("boot_id") or None,
        "fields": fields,
        "labels": seen.get("labels", {}),
        "annotations": seen.get("annotations", {}),
        "conditions": seen.get("conditions", {}),
        "taints": taints,
        "standing": frozenset(
            name for name in taints if not name.startswith(TROUBLE)
        ),
        "resources": seen.get("resources", {}),
        "cordoned": bool(fields.get("unschedulable")),
    }


def _vanished(_: NodeState, __: Detail) -> Changed:
    return {"present": False}


def _condition(state: NodeState, detail: Detail) -> Changed:
    told = _with(state.conditions, detail["type"], detail["new"])
    return {"conditions": told}


def _label(state: NodeState, detail: Detail) -> Changed:
    return {"labels": _with(state.labels, detail["key"], detail["new"])}


def _annotation(state: NodeState, detail: Detail) -> Changed:
    told = _with(state.annotations, detail["key"], detail["new"])
    return {"annotations": told}


def _field(state: NodeState, detail: Detail) -> Changed:
    return {"fields": _with(state.fields, detail["field"], detail["new"])}


def _boot(state: NodeState, detail: Detail) -> Changed:
    boot = detail["new"]
    fields = _with(state.fields, "boot_id", boot)
    return {"boot_id": boot, "fields": fields}


def _tainted(state: NodeState, detail: Detail) -> Changed:
    name = f"{detail['key']}:{detail['effect']}"
    return {
        "taints": {**state.taints, name: detail["value"]},
        "standing": state.standing - {name},
    }


def _untainted(state: NodeState, detail: Detail) -> Changed:
    name = f"{detail['key']}:{detail['effect']}"
    taints = _with(state.taints, name, None)
    return {"taints": taints, "standing": state.standing - {name}}


def _cordoned(_: NodeState, __: Detail) -> Changed:
    return {"cordoned": True}


def _uncordoned(_: NodeState, __: Detail) -> Changed:
    return {"cordoned": False}


def _resource(state: NodeState, detail: Detail) -> Changed:
    name = f"{detail['list']}/{detail['resource']}"
    return {"resources": _with(state.resources, name, detail["new"])}


def _with(entries: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Return entries of which one has a value, or is gone for None."""
    found = dict(entries)
    if value is None:
        found.pop(name, None)
    else:
        found[name] = value
    return found


_STEPS = {
    FactKind.APPEARED: _appeared,
    FactKind.VANISHED: _vanished,
    FactKind.CONDITION_CHANGED: _condition,
    FactKind.LABEL_CHANGED: _label,
    FactKind.ANNOTATION_CHANGED: _annotation,
    FactKind.FIELD_CHANGED: _field,
    FactKind.MACHINE_CHANGED: _field,
    FactKind.BOOT_CHANGED: _boot,
    FactKind.TAINTED: _tainted,
    FactKind.UNTAINTED: _untainted,
    FactKind.CORDONED: _cordoned,
    FactKind.UNCORDONED: _uncordoned,
    FactKind.RESOURCE_CHANGED: _resource,
}
