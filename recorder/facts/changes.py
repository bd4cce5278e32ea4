"""Changes: two states of one object to facts about what lies between.

The order is fixed: the same two states give the same facts.

The author of a change is known by ``managedFields``, the only record without
audit. `recorder.facts.classify.managers` names all that wrote a version, from
whole documents. Here the question is which of them changed one field, while
a log is written: of the version before, only a hash of each entry is kept. A
manager that only removed fields may have lost its entry. So a change has an
author when exactly one writer fits; no author is better than a wrong one.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

import msgspec
from msgspec.structs import astuple

from recorder.facts.bearing import HOST_COMMAND
from recorder.facts.classify import shapes
from recorder.facts.classify.managers import moved
from recorder.facts.classify.shapes import Managed
from recorder.facts.classify.times import moment
from recorder.facts.parts import read_managed
from recorder.facts.state import State
from recorder.model import facts
from recorder.model.fact import FactKind
from recorder.model.state import (
    Condition,
    Held,
    ObjectState,
    Owner,
    Scalar,
    Taint,
)

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
    HOST_COMMAND: "containers",
}
"""How the API calls what states call otherwise."""

_COMMAND = (b'"f:containers"',)
"""Where a Pod has what it runs: who bound the Pod did not write it."""

_OF_OTHER_KINDS = frozenset({"boot_id", *MACHINE, "unschedulable", "message"})
"""Fields that have a kind of fact of their own, or are part of another."""


class Change(msgspec.Struct, gc=False):
    """A fact about one object, before it is known which."""

    kind: FactKind
    detail: facts.Detail
    occurred_at: datetime | None = None
    path: tuple[bytes, ...] = ()
    """Where ``managedFields`` would name the author."""

    author: Managed | None = None


def snapshot(state: State) -> ObjectState:
    """Return a state as facts have it, without the writers.

    It shares with the state what is the same in both: most of its memory.
    """
    return ObjectState(
        uid=state.uid or None,
        created_at=state.created_at or None,
        deletion=state.deletion or None,
        node=state.node or None,
        labels=state.labels,
        annotations=state.annotations,
        owners=[
            Owner(o.api_version, o.kind, o.name, o.uid, o.controller)
            for o in state.owners
        ],
        conditions={
            name: _condition(condition)
            for name, condition in state.conditions.items()
        },
        taints=[_taint(name, state) for name in sorted(state.taints)],
        fields=state.fields,
        resources=state.resources,
        ends=state.ends,
        gpus=state.gpus,
    )


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
            by = () if change.path == _COMMAND else movers
            change.author = author_of(change.path, by, managed)
    return found


def _others(found: list[Change], old: State, new: State) -> None:
    if _differ(old.resources, new.resources):
        _resources(found, old, new)
    if _differ(old.labels, new.labels):
        kind = FactKind.LABEL_CHANGED
        _texts(found, old.labels, new.labels, kind)
    if _differ(old.annotations, new.annotations):
        kind = FactKind.ANNOTATION_CHANGED
        _texts(found, old.annotations, new.annotations, kind)
    if old.ends != new.ends:
        _ends(found, old, new)
    if new.deletion and not old.deletion:
        detail = facts.DeletionRequested(new.deletion)
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
        detail = facts.BootChanged(_text(before), _text(now))
        path = (b'"f:bootID"',)
        found.append(Change(FactKind.BOOT_CHANGED, detail, None, path))
    machine = [f for f in MACHINE if f in fields]
    for field in machine:
        sides = old.fields.get(field), new.fields.get(field)
        machine_changed = facts.MachineChanged(field, *sides)
        path = (_member(field),)
        kind = FactKind.MACHINE_CHANGED
        found.append(Change(kind, machine_changed, None, path))
    if old.node != new.node and new.node is not None:
        bound = facts.Bound(old.node, new.node)
        path = (b'"f:nodeName"',)
        found.append(Change(FactKind.BOUND, bound, None, path))
    for field in sorted(f for f in fields if f not in _OF_OTHER_KINDS):
        if field == HOST_COMMAND and old.node == new.node:
            continue  # its owner left it: it does nothing new
        sides = old.fields.get(field), new.fields.get(field)
        changed = facts.FieldChanged(field, *sides)
        path = (_member(field),)
        found.append(Change(FIELD_CHANGED, changed, None, path))


def _text(value: Scalar | None) -> str | None:
    return None if value is None else str(value)


def _phase(found: list[Change], new: State) -> None:
    path = (b'"f:phase"',)
    phase = new.fields.get("phase")
    if phase == "Running":
        since = moment(new.fields.get("start_time"))
        found.append(Change(FactKind.STARTED, facts.Started(), since, path))
    elif phase in {"Succeeded", "Failed"}:
        reason, message = new.fields.get("reason"), new.fields.get("message")
        detail = facts.Ended(str(phase), _text(reason), _text(message))
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
        detail = facts.ConditionChanged(
            name,
            None if before is None else _condition(before),
            None if now is None else _condition(now),
        )
        path = _path_of_condition(name)
        found.append(Change(CONDITION_CHANGED, detail, since, path))


@lru_cache(1024)
def _path_of_condition(name: str) -> tuple[bytes, ...]:
    return b'"f:conditions"', b'k:{\\"type\\":\\"%b\\"}' % name.encode()


def _same(
    before: shapes.Condition | None, now: shapes.Condition | None
) -> bool:
    if before is None or now is None:
        return before is now
    return (
        before.status == now.status
        and before.reason == now.reason
        and before.message == now.message
    )


def _condition(condition: shapes.Condition) -> Condition:
    return Condition(
        condition.status,
        condition.reason,
        condition.message,
        condition.last_transition_time,
    )


def _cordon(found: list[Change], new: State) -> None:
    path = (b'"f:unschedulable"',)
    if new.fields.get("unschedulable"):
        cordoned = facts.Cordoned()
        found.append(Change(FactKind.CORDONED, cordoned, None, path))
    else:
        uncordoned = facts.Uncordoned()
        found.append(Change(FactKind.UNCORDONED, uncordoned, None, path))


def _taints(found: list[Change], old: State, new: State) -> None:
    path = (b'"f:taints"',)
    for name in sorted(old.taints.keys() - new.taints.keys()):
        gone = _taint(name, old)
        left = facts.Untainted(gone.key, gone.value, gone.effect)
        found.append(Change(FactKind.UNTAINTED, left, None, path))
    for name in sorted(new.taints):
        taint = new.taints[name]
        known = old.taints.get(name)
        if known is None or known.value != taint.value:
            at = moment(taint.time_added)
            came = _taint(name, new)
            tainted = facts.Tainted(came.key, came.value, came.effect)
            found.append(Change(FactKind.TAINTED, tainted, at, path))


def _taint(name: str, state: State) -> Taint:
    key, _, effect = name.rpartition(":")
    return Taint(key, state.taints[name].value, effect)


def _resources(found: list[Change], old: State, new: State) -> None:
    for name in sorted(_differing(old.resources, new.resources)):
        which, _, resource = name.partition("/")
        detail = facts.ResourceChanged(
            which,
            resource,
            old.resources.get(name),
            new.resources.get(name),
            new.resources.get(f"capacity/{resource}"),
        )
        path = (b'"f:%b"' % which.encode(),)
        found.append(Change(FactKind.RESOURCE_CHANGED, detail, None, path))


_TEXTS: Final[
    Mapping[
        FactKind,
        tuple[type[facts.LabelChanged | facts.AnnotationChanged], bytes],
    ]
] = {
    FactKind.LABEL_CHANGED: (facts.LabelChanged, b'"f:labels"'),
    FactKind.ANNOTATION_CHANGED: (facts.AnnotationChanged, b'"f:annotations"'),
}
"""The fact that a text changed, and the member of ``fieldsV1`` with it."""


def _texts(
    found: list[Change],
    old: Mapping[str, str],
    new: Mapping[str, str],
    kind: FactKind,
) -> None:
    of, at = _TEXTS[kind]
    for key in sorted(_differing(old, new)):
        detail = of(key, old.get(key), new.get(key))
        path = (at, b'"f:%b"' % key.encode())
        found.append(Change(kind, detail, None, path))


def _ends(found: list[Change], old: State, new: State) -> None:
    for name, end in new.ends.items():
        known = old.ends.get(name)
        if known is not None and known.finished_at == end.finished_at:
            if end.restarts > known.restarts and not end.init:
                again = facts.Started(name, end.restarts)
                path = (b"containerStatuses",)
                found.append(Change(FactKind.STARTED, again, None, path))
            continue
        detail = facts.ContainerEnded(name, *astuple(end))
        at = moment(end.finished_at)
        path = (b"containerStatuses",)
        found.append(Change(FactKind.CONTAINER_ENDED, detail, at, path))


def _member(field: str) -> bytes:
    return b'"f:%b"' % MEMBERS.get(field, field).encode()


def held(state: State, managed: Sequence[msgspec.Raw]) -> list[Held]:
    """Return who wrote what a Node has that a list shows first.

    An entry has the time of its last change, and a manager that sets a field
    anew changes its entry: what one entry alone owns was set then or before.
    A kubelet, the controllers of Kubernetes and what writes the status are
    left out: they report what a node does, or keep books.

    Raises:
        ValueError: an entry is not built as it should be.
    """
    paths: dict[str, tuple[bytes, ...]] = {}
    if state.fields.get("unschedulable"):
        paths["unschedulable"] = (b'"f:unschedulable"',)
    if len(state.taints) == 1:
        # Who changes one of several writes them all.
        paths["taints"] = (b'"f:taints"',)
    for key in sorted(state.annotations):
        paths[f"annotations/{key}"] = (
            b'"f:annotations"',
            b'"f:%b"' % key.encode(),
        )
    found: dict[tuple[str, str], list[str]] = {}
    for name, place in paths.items():
        one = author_of(place, (), managed)
        if one is None or one.subresource or one.manager in _REPORTING:
            continue
        if one.manager and one.time:
            found.setdefault((one.manager, one.time), []).append(name)
    return [Held(*writer, names) for writer, names in found.items()]


_REPORTING = frozenset({"kubelet", "kube-controller-manager"})

_NO_MANAGER = Managed()


def movers_of(
    before: Sequence[int], now: Sequence[int], managed: Sequence[msgspec.Raw]
) -> list[Managed]:
    """Return the entries that are not as they were.

    Args:
        before: hashes of the entries of the version before.
        now: those of the new version.
        managed: the entries of the new version.

    Raises:
        ValueError: one is not built as it should be.
    """
    return [_read(bytes(managed[place])) for place, _ in moved(before, now)]


def author_of(
    path: Sequence[bytes],
    movers: Sequence[Managed],
    managed: Sequence[msgspec.Raw],
) -> Managed | None:
    """Return the entry of who wrote a change, None if it cannot be known.

    Args:
        path: the members of ``fieldsV1`` that lead to the field.
        movers: the entries that moved.
        managed: the entries of the new version.

    Raises:
        ValueError: an entry is not built as it should be.
    """
    if len(movers) == 1:
        return movers[0]
    if movers:
        owners = [e for e in movers if _leads(path, bytes(e.fields_v1))]
    else:
        # Two writes of one writer within a second leave no trace of the
        # second but the value, whose only owner is its author.
        entries = [_read(e) for e in map(bytes, managed) if _leads(path, e)]
        owners = [e for e in entries if _leads(path, bytes(e.fields_v1))]
    return owners[0] if len(owners) == 1 else None


def _read(written: bytes) -> Managed:
    return read_managed(written, "metadata.managedFields[]") or _NO_MANAGER


def _leads(path: Sequence[bytes], fields: bytes) -> bool:
    start = 0
    for member in path:
        start = fields.find(member, start)
        if start < 0:
            return False
    return True
