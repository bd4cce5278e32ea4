"""Changes: two states of one object to facts about what lies between.

The order is fixed: the same two states give the same facts.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from recorder.classify.shapes import Condition, Managed
from recorder.classify.times import moment
from recorder.facts.authors import author_of, movers_of
from recorder.facts.state import Scalar, State
from recorder.model.fact import FactKind

__all__ = ["Change", "changes", "snapshot"]

# By names of their own: Python 3.11 takes its time for a member.
CONDITION_CHANGED = FactKind.CONDITION_CHANGED
FIELD_CHANGED = FactKind.FIELD_CHANGED

MACHINE = ("machine_id", "system_uuid", "provider_id")

MEMBERS = {
    "boot_id": "bootID",
    "machine_id": "machineID",
    "system_uuid": "systemUUID",
    "provider_id": "providerID",
    "kernel_version": "kernelVersion",
    "os_image": "osImage",
    "kubelet_version": "kubeletVersion",
    "container_runtime_version": "containerRuntimeVersion",
    "start_time": "startTime",
    "completion_time": "completionTime",
}
"""How the API calls what states call otherwise."""

_TOLD = frozenset({"boot_id", *MACHINE, "unschedulable", "message"})
"""Fields that have a kind of their own, or are told with another one."""


class Change(msgspec.Struct, gc=False):
    """A fact about one object, before it is known which."""

    kind: FactKind
    detail: dict[str, Any]
    occurred_at: datetime | None = None
    path: tuple[bytes, ...] = ()
    """Where ``managedFields`` would name the author."""

    author: Managed | None = None


def snapshot(state: State) -> dict[str, Any]:
    """Return a state as plain JSON, without the writers.

    It shares with the state what is plain already: most of its memory.
    """
    found: dict[str, Any] = {
        "uid": state.uid,
        "created_at": state.created_at,
        "deletion": state.deletion,
        "node": state.node,
        "labels": state.labels,
        "annotations": state.annotations,
        "owners": msgspec.to_builtins(state.owners),
        "conditions": {
            name: _condition(condition)
            for name, condition in state.conditions.items()
        },
        "taints": [_taint(name, state) for name in sorted(state.taints)],
        "fields": state.fields,
        "resources": state.resources,
        "ends": msgspec.to_builtins(state.ends),
        "gpus": state.gpus,
    }
    return {name: value for name, value in found.items() if value}


def changes(
    old: State, new: State, managed: Sequence[msgspec.Raw], *, is_pod: bool
) -> list[Change]:
    """Return what happened between two states, in a fixed order.

    Raises:
        ValueError: an entry of ``managedFields`` is not built as it should
            be.
    """
    found: list[Change] = []
    fields = _differing(old.fields, new.fields)
    if fields or old.node != new.node:
        _plain(found, old, new, fields)
    if is_pod and "phase" in fields:
        _phase(found, new)
    if old.conditions != new.conditions:
        _conditions(found, old, new)
    if "unschedulable" in fields:
        _cordon(found, new)
    if old.taints != new.taints:
        _taints(found, old, new)
    _others(found, old, new)
    if found:
        movers = movers_of(old.writers, new.writers, managed)
        for change in found:
            change.author = author_of(change.path, movers, managed)
    return found


def _others(found: list[Change], old: State, new: State) -> None:
    if _differ(old.resources, new.resources):
        _resources(found, old, new)
    if _differ(old.labels, new.labels):
        kind, at = FactKind.LABEL_CHANGED, b"f:labels"
        _texts(found, old.labels, new.labels, kind, at)
    if _differ(old.annotations, new.annotations):
        kind, at = FactKind.ANNOTATION_CHANGED, b"f:annotations"
        _texts(found, old.annotations, new.annotations, kind, at)
    if old.ends != new.ends:
        _ends(found, old, new)
    if new.deletion and not old.deletion:
        detail = {"until": new.deletion}
        found.append(Change(FactKind.DELETION_REQUESTED, detail))


def _differ(old: Mapping[str, str], new: Mapping[str, str]) -> bool:
    # What was written as before is the same, and would be compared all the
    # same.
    return old is not new and old != new


def _differing(
    old: Mapping[str, Scalar], new: Mapping[str, Scalar]
) -> Collection[str]:
    """Name what has not the same value in both."""
    if old is new or old == new:
        return ()
    changed = {name for name, now in new.items() if old.get(name) != now}
    return changed | (old.keys() - new.keys())


def _plain(
    found: list[Change], old: State, new: State, fields: Collection[str]
) -> None:
    before, now = old.fields.get("boot_id"), new.fields.get("boot_id")
    if "boot_id" in fields and before is not None:
        detail = {"old": before, "new": now}
        path = (b'"f:bootID"',)
        found.append(Change(FactKind.BOOT_CHANGED, detail, None, path))
    machine = [f for f in MACHINE if f in fields]
    found += [_field(FactKind.MACHINE_CHANGED, f, old, new) for f in machine]
    if old.node != new.node and new.node is not None:
        bound = {"old": old.node, "node": new.node}
        path = (b'"f:nodeName"',)
        found.append(Change(FactKind.BOUND, bound, None, path))
    others = sorted(f for f in fields if f not in _TOLD)
    found += [_field(FIELD_CHANGED, field, old, new) for field in others]


def _field(kind: FactKind, field: str, old: State, new: State) -> Change:
    before, now = old.fields.get(field), new.fields.get(field)
    detail = {"field": field, "old": before, "new": now}
    return Change(kind, detail, None, (_member(field),))


def _phase(found: list[Change], new: State) -> None:
    path = (b'"f:phase"',)
    phase = new.fields.get("phase")
    if phase == "Running":
        since = moment(new.fields.get("start_time"))
        found.append(Change(FactKind.STARTED, {}, since, path))
    elif phase in {"Succeeded", "Failed"}:
        detail: dict[str, Any] = {
            name: new.fields[name]
            for name in ("phase", "reason", "message")
            if name in new.fields
        }
        found.append(Change(FactKind.ENDED, detail, None, path))


def _conditions(found: list[Change], old: State, new: State) -> None:
    names = [
        name
        for name, now in new.conditions.items()
        if old.conditions.get(name) != now
    ]
    names += old.conditions.keys() - new.conditions.keys()
    for name in sorted(names):
        before, now = old.conditions.get(name), new.conditions.get(name)
        if _same(before, now):
            continue
        since = None
        if now is not None:
            changed_at = now.last_transition_time
            if before is None or before.last_transition_time != changed_at:
                since = moment(changed_at)
        detail = {
            "type": name,
            "old": None if before is None else _condition(before),
            "new": None if now is None else _condition(now),
        }
        path = _path_of_condition(name)
        found.append(Change(CONDITION_CHANGED, detail, since, path))


@lru_cache(1024)
def _path_of_condition(name: str) -> tuple[bytes, ...]:
    return b'"f:conditions"', b'k:{\\"type\\":\\"%b\\"}' % name.encode()


def _same(before: Condition | None, now: Condition | None) -> bool:
    if before is None or now is None:
        return before is now
    return (
        before.status == now.status
        and before.reason == now.reason
        and before.message == now.message
    )


def _condition(condition: Condition) -> dict[str, Any]:
    return {
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "since": condition.last_transition_time,
    }


def _cordon(found: list[Change], new: State) -> None:
    kind = (
        FactKind.CORDONED
        if new.fields.get("unschedulable")
        else FactKind.UNCORDONED
    )
    found.append(Change(kind, {}, None, (b'"f:unschedulable"',)))


def _taints(found: list[Change], old: State, new: State) -> None:
    path = (b'"f:taints"',)
    for name in sorted(old.taints.keys() - new.taints.keys()):
        detail = _taint(name, old)
        found.append(Change(FactKind.UNTAINTED, detail, None, path))
    for name in sorted(new.taints):
        taint = new.taints[name]
        known = old.taints.get(name)
        if known is None or known.value != taint.value:
            at = moment(taint.time_added)
            detail = _taint(name, new)
            found.append(Change(FactKind.TAINTED, detail, at, path))


def _taint(name: str, state: State) -> dict[str, Any]:
    key, _, effect = name.rpartition(":")
    return {
        "key": key,
        "value": state.taints[name].value,
        "effect": effect,
    }


def _resources(found: list[Change], old: State, new: State) -> None:
    for name in sorted(_differing(old.resources, new.resources)):
        which, _, resource = name.partition("/")
        detail = {
            "list": which,
            "resource": resource,
            "old": old.resources.get(name),
            "new": new.resources.get(name),
            "capacity": new.resources.get(f"capacity/{resource}"),
        }
        path = (b'"f:%b"' % which.encode(),)
        found.append(Change(FactKind.RESOURCE_CHANGED, detail, None, path))


def _texts(
    found: list[Change],
    old: Mapping[str, str],
    new: Mapping[str, str],
    kind: FactKind,
    at: bytes,
) -> None:
    for key in sorted(_differing(old, new)):
        detail = {"key": key, "old": old.get(key), "new": new.get(key)}
        path = (b'"%b"' % at, b'"f:%b"' % key.encode())
        found.append(Change(kind, detail, None, path))


def _ends(found: list[Change], old: State, new: State) -> None:
    for name, end in new.ends.items():
        known = old.ends.get(name)
        if known is not None and known.finished_at == end.finished_at:
            if end.restarts > known.restarts and not end.init:
                detail = {"container": name, "restarts": end.restarts}
                path = (b"containerStatuses",)
                found.append(Change(FactKind.STARTED, detail, None, path))
            continue
        detail = {"container": name, **msgspec.to_builtins(end)}
        at = moment(end.finished_at)
        path = (b"containerStatuses",)
        found.append(Change(FactKind.CONTAINER_ENDED, detail, at, path))


def _member(field: str) -> bytes:
    return b'"f:%b"' % MEMBERS.get(field, field).encode()
