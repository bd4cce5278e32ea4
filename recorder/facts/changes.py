"""Changes: two states of one object to facts about what lies between.

The order is fixed: the same two states give the same facts.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from recorder.classify.times import moment
from recorder.facts.state import ConditionState, State
from recorder.facts.wire import Managed
from recorder.facts.writers import Writer, author_of, moved
from recorder.model.fact import FactKind

__all__ = ["Change", "changes", "snapshot"]

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

_SKIPPED = frozenset({"message"})
"""Fields that are told with another one."""


class Change(NamedTuple):
    """A fact about one object, before it is known which."""

    kind: FactKind
    detail: dict[str, Any]
    occurred_at: datetime | None = None
    path: tuple[bytes, ...] = ()
    """Where ``managedFields`` would name the author."""

    actor: Writer | None = None


def snapshot(state: State) -> dict[str, Any]:
    """Give a state as plain JSON, without the writers."""
    found: dict[str, Any] = msgspec.to_builtins(state)
    found.pop("writers", None)
    found["conditions"] = {
        name: _condition(condition)
        for name, condition in state.conditions.items()
    }
    found["taints"] = [_taint(name, state) for name in sorted(state.taints)]
    return {name: value for name, value in found.items() if value}


def changes(
    old: State, new: State, managed: list[Managed], *, is_pod: bool
) -> list[Change]:
    """Give what happened between two states, in a fixed order."""
    found = [
        *_boot_and_machine(old, new),
        *_binding(old, new),
        *_fields(old, new),
        *(_phase(old, new) if is_pod else ()),
        *_conditions(old, new),
        *_scheduling(old, new),
        *_resources(old, new),
        *_texts(old.labels, new.labels, FactKind.LABEL_CHANGED, b"f:labels"),
        *_texts(
            old.annotations,
            new.annotations,
            FactKind.ANNOTATION_CHANGED,
            b"f:annotations",
        ),
        *_ends(old, new),
        *_deletion(old, new),
    ]
    if not found:
        return found
    movers = moved(old.writers, new.writers)
    return [
        change._replace(actor=author_of(change.path, movers, managed))
        for change in found
    ]


def _boot_and_machine(old: State, new: State) -> Iterator[Change]:
    before, now = old.fields.get("boot_id"), new.fields.get("boot_id")
    if before != now and before is not None:
        yield Change(
            FactKind.BOOT_CHANGED,
            {"old": before, "new": now},
            path=(b'"f:bootID"',),
        )
    for field in MACHINE:
        before, now = old.fields.get(field), new.fields.get(field)
        if before != now:
            yield Change(
                FactKind.MACHINE_CHANGED,
                {"field": field, "old": before, "new": now},
                path=(_member(field),),
            )


def _fields(old: State, new: State) -> Iterator[Change]:
    told = {"boot_id", *MACHINE, "unschedulable", *_SKIPPED}
    for field in sorted((old.fields.keys() | new.fields.keys()) - told):
        before, now = old.fields.get(field), new.fields.get(field)
        if before == now:
            continue
        yield Change(
            FactKind.FIELD_CHANGED,
            {"field": field, "old": before, "new": now},
            path=(_member(field),),
        )


def _binding(old: State, new: State) -> Iterator[Change]:
    if old.node != new.node and new.node is not None:
        detail = {"old": old.node, "node": new.node}
        yield Change(FactKind.BOUND, detail, path=(b'"f:nodeName"',))


def _phase(old: State, new: State) -> Iterator[Change]:
    path = (b'"f:phase"',)
    phase = new.fields.get("phase")
    if old.fields.get("phase") == phase:
        return
    if phase == "Running":
        since = new.fields.get("start_time")
        yield Change(FactKind.STARTED, {}, moment(since), path)
    elif phase in {"Succeeded", "Failed"}:
        detail: dict[str, Any] = {
            name: new.fields[name]
            for name in ("phase", "reason", "message")
            if name in new.fields
        }
        yield Change(FactKind.ENDED, detail, path=path)


def _conditions(old: State, new: State) -> Iterator[Change]:
    for name in sorted(old.conditions.keys() | new.conditions.keys()):
        before, now = old.conditions.get(name), new.conditions.get(name)
        if _same(before, now):
            continue
        since = None
        if now is not None and (before is None or before.since != now.since):
            since = moment(now.since)
        yield Change(
            FactKind.CONDITION_CHANGED,
            {
                "type": name,
                "old": None if before is None else _condition(before),
                "new": None if now is None else _condition(now),
            },
            since,
            (b'"f:conditions"', b'k:{\\"type\\":\\"%b\\"}' % name.encode()),
        )


def _same(before: ConditionState | None, now: ConditionState | None) -> bool:
    if before is None or now is None:
        return before is now
    return (before.status, before.reason, before.message) == (
        now.status,
        now.reason,
        now.message,
    )


def _condition(condition: ConditionState) -> dict[str, Any]:
    return {
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "since": condition.since,
    }


def _scheduling(old: State, new: State) -> Iterator[Change]:
    path = (b'"f:unschedulable"',)
    before = bool(old.fields.get("unschedulable"))
    now = bool(new.fields.get("unschedulable"))
    if now and not before:
        yield Change(FactKind.CORDONED, {}, path=path)
    if before and not now:
        yield Change(FactKind.UNCORDONED, {}, path=path)
    taints = (b'"f:taints"',)
    for name in sorted(old.taints.keys() - new.taints.keys()):
        yield Change(FactKind.UNTAINTED, _taint(name, old), path=taints)
    for name in sorted(new.taints):
        taint = new.taints[name]
        known = old.taints.get(name)
        if known is None or known.value != taint.value:
            at = moment(taint.time_added)
            yield Change(FactKind.TAINTED, _taint(name, new), at, taints)


def _taint(name: str, state: State) -> dict[str, Any]:
    key, _, effect = name.rpartition(":")
    return {
        "key": key,
        "value": state.taints[name].value,
        "effect": effect,
    }


def _resources(old: State, new: State) -> Iterator[Change]:
    for name in sorted(old.resources.keys() | new.resources.keys()):
        before, now = old.resources.get(name), new.resources.get(name)
        if before == now:
            continue
        which, _, resource = name.partition("/")
        yield Change(
            FactKind.RESOURCE_CHANGED,
            {
                "list": which,
                "resource": resource,
                "old": before,
                "new": now,
                "capacity": new.resources.get(f"capacity/{resource}"),
            },
            path=(b'"f:%b"' % which.encode(),),
        )


def _texts(
    old: Mapping[str, str], new: Mapping[str, str], kind: FactKind, at: bytes
) -> Iterator[Change]:
    if old == new:
        return
    for key in sorted(old.keys() | new.keys()):
        before, now = old.get(key), new.get(key)
        if before != now:
            yield Change(
                kind,
                {"key": key, "old": before, "new": now},
                path=(b'"%b"' % at, b'"f:%b"' % key.encode()),
            )


def _ends(old: State, new: State) -> Iterator[Change]:
    for name, end in new.ends.items():
        known = old.ends.get(name)
        if known is not None and known.finished_at == end.finished_at:
            continue
        detail = {"container": name, **msgspec.to_builtins(end)}
        yield Change(
            FactKind.CONTAINER_ENDED,
            detail,
            moment(end.finished_at),
            (b"containerStatuses",),
        )


def _deletion(old: State, new: State) -> Iterator[Change]:
    if new.deletion and not old.deletion:
        yield Change(FactKind.DELETION_REQUESTED, {"until": new.deletion})


def _member(field: str) -> bytes:
    return b'"f:%b"' % MEMBERS.get(field, field).encode()
