"""States: what of a document is compared with the next version of it.

A state is small and plain, so that those of thousands of objects can be kept
at hand, and the same from whichever document of an object it is made.
"""

from typing import Any, NamedTuple

import msgspec

from recorder.classify.shapes import (
    AnyObject,
    AnySpec,
    AnyStatus,
    Condition,
    ContainerStatus,
    Managed,
    Metadata,
    Node,
    Owner,
    Pod,
    Shape,
    Taint,
    read_any,
    read_node,
    read_pod,
)
from recorder.facts.authors import Writer, writers_of
from recorder.facts.gpus import gpus_of
from recorder.model.reference import Resource

__all__ = [
    "ContainerEnd",
    "Reading",
    "Scalar",
    "State",
    "TEXT_CHARACTERS_MAX",
    "read_state",
]

TEXT_CHARACTERS_MAX = 4_096
"""Of a value in a fact; what is cut is in the entry."""

_NO_METADATA = Metadata()
_NO_SPEC = AnySpec()
_NO_STATUS = AnyStatus()
Scalar = str | int | bool
_SCALARS = (str, int)


class ContainerEnd(msgspec.Struct, omit_defaults=True, gc=False):
    """The newest end of a container."""

    exit_code: int | None = None
    signal: int | None = None
    reason: str | None = None
    message: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    restarts: int = 0
    init: bool = False


class State(msgspec.Struct, omit_defaults=True, gc=False):
    """What is compared."""

    uid: str | None = None
    created_at: str | None = None
    deletion: str | None = None
    node: str | None = None
    """The node that the object concerns."""

    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owners: list[Owner] = []
    conditions: dict[str, Condition] = {}
    taints: dict[str, Taint] = {}
    """By key and effect, as ``KEY:EFFECT``."""

    fields: dict[str, Scalar] = {}
    resources: dict[str, str] = {}
    """Of a node, as ``allocatable/RESOURCE`` and ``capacity/RESOURCE``."""

    ends: dict[str, ContainerEnd] = {}
    """By container."""

    gpus: int = 0
    """That a Pod asks for."""

    writers: list[Writer] = []


class Reading(NamedTuple):
    """What was read of a document."""

    state: State
    managed: list[Managed]


def read_state(
    raw: bytes, resource: Resource, wire: Shape | None = None
) -> Reading:
    """Read the state of a document.

    Args:
        raw: the document.
        resource: tells its kind.
        wire: the document as it was decoded, if it was.

    Raises:
        ValueError: it has not the shape that its kind has.
        RecursionError: it is nested too deeply to tell.
    """
    made: Node | Pod | AnyObject
    if not resource.group and resource.plural == "nodes":
        made = wire if isinstance(wire, Node) else read_node(raw)
        state = _of_node(made)
    elif not resource.group and resource.plural == "pods":
        made = wire if isinstance(wire, Pod) else read_pod(raw)
        state = _of_pod(made)
    else:
        made = wire if isinstance(wire, AnyObject) else read_any(raw)
        state = _of_any(made, resource)
    metadata = made.metadata or _NO_METADATA
    return Reading(state, metadata.managed_fields or [])


def _of_node(node: Node) -> State:
    metadata = node.metadata or _NO_METADATA
    state = _common(metadata)
    state.node = metadata.name
    spec, status = node.spec, node.status
    fields: dict[str, Any] = {}
    if spec is not None:
        fields["unschedulable"] = spec.unschedulable or None
        fields["provider_id"] = spec.provider_id
        state.taints = _taints(spec.taints)
    if status is not None:
        state.conditions = _conditions(status.conditions)
        if status.node_info is not None:
            fields |= msgspec.structs.asdict(status.node_info)
        state.resources = {
            f"{name}/{resource}": amount
            for name, amounts in (
                ("allocatable", status.allocatable),
                ("capacity", status.capacity),
            )
            for resource, amount in (amounts or {}).items()
        }
    state.fields = _present(fields)
    return state


def _of_pod(pod: Pod) -> State:
    state = _common(pod.metadata or _NO_METADATA)
    spec, status = pod.spec, pod.status
    fields: dict[str, Any] = {}
    if spec is not None:
        state.node = spec.node_name or None
        fields["priority"] = spec.priority
        fields["priority_class"] = spec.priority_class_name
        state.gpus = gpus_of(spec)
    if status is not None:
        fields["phase"] = status.phase
        fields["reason"] = status.reason
        fields["message"] = _cut(status.message)
        fields["start_time"] = status.start_time
        state.conditions = _conditions(status.conditions)
        for statuses, init in (
            (status.init_container_statuses, True),
            (status.container_statuses, False),
        ):
            for container in statuses or ():
                _note_end(state.ends, container, init=init)
    state.fields = _present(fields)
    return state


def _of_any(made: AnyObject, resource: Resource) -> State:
    metadata = made.metadata or _NO_METADATA
    state = _common(metadata)
    spec, status = made.spec or _NO_SPEC, made.status or _NO_STATUS
    state.node = _named_node(metadata, spec, status, resource)
    state.conditions = _conditions(_maybe_conditions(status.conditions))
    found: dict[str, Any] = {
        "phase": status.phase,
        "state": status.state,
        "suspend": spec.suspend,
        "replicas": spec.replicas,
        "parallelism": spec.parallelism,
        "completions": spec.completions,
        "active": status.active,
        "ready": status.ready,
        "succeeded": status.succeeded,
        "failed": status.failed,
        "restarts": status.restarts,
        "start_time": status.start_time,
        "completion_time": status.completion_time,
    }
    state.fields = {
        name: value
        for name, value in found.items()
        if isinstance(value, _SCALARS)
    }
    for entry in _listed(status.unhealthy_nodes):
        name = entry.get("name") if isinstance(entry, dict) else entry
        if isinstance(name, str):
            state.fields[f"unhealthy_node/{name}"] = True
    return state


def _common(metadata: Metadata) -> State:
    return State(
        uid=metadata.uid,
        created_at=metadata.creation_timestamp,
        deletion=metadata.deletion_timestamp,
        labels=metadata.labels or {},
        annotations=_all_cut(metadata.annotations or {}),
        owners=metadata.owner_references or [],
        writers=writers_of(metadata.managed_fields),
    )


def _named_node(
    metadata: Metadata, spec: AnySpec, status: AnyStatus, resource: Resource
) -> str | None:
    """Find the node that an object of any kind names as its own."""
    for claim in (
        spec.node_name,
        spec.node,
        status.node_name,
        _member(status.node_ref, "name"),
        _member(spec.node_ref, "name"),
        (metadata.annotations or {}).get("remediation.medik8s.io/node-name"),
    ):
        if isinstance(claim, str) and claim:
            return claim
    if resource.group.endswith("remediation.medik8s.io"):
        # These remediations are called as the node that they are for.
        return metadata.name
    return None


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _conditions(conditions: list[Condition] | None) -> dict[str, Condition]:
    return {c.type: _short(c) for c in conditions or () if c.type}


def _short(condition: Condition) -> Condition:
    message = condition.message
    if message is None or len(message) <= TEXT_CHARACTERS_MAX:
        return condition
    return msgspec.structs.replace(condition, message=_cut(message))


def _maybe_conditions(value: Any) -> list[Condition]:
    found = []
    for one in _listed(value):
        try:
            found.append(msgspec.convert(one, Condition))
        except msgspec.ValidationError:
            continue
    return found


def _taints(taints: list[Taint] | None) -> dict[str, Taint]:
    return {f"{t.key}:{t.effect}": t for t in taints or () if t.key}


def _note_end(
    ends: dict[str, ContainerEnd], container: ContainerStatus, *, init: bool
) -> None:
    """Note the newest end of a container: now, or before it began again."""
    for state in (container.state, container.last_state):
        ended = state.terminated if state is not None else None
        if ended is None or not container.name:
            continue
        ends[container.name] = ContainerEnd(
            exit_code=ended.exit_code,
            signal=ended.signal,
            reason=ended.reason,
            message=_cut(ended.message),
            started_at=ended.started_at,
            finished_at=ended.finished_at,
            restarts=container.restart_count or 0,
            init=init,
        )
        return


def _present(fields: dict[str, Any]) -> dict[str, Scalar]:
    return {name: value for name, value in fields.items() if value is not None}


def _all_cut(texts: dict[str, str]) -> dict[str, str]:
    if max(map(len, texts.values()), default=0) <= TEXT_CHARACTERS_MAX:
        return texts
    return {key: _cut(text) or "" for key, text in texts.items()}


def _cut(text: str | None) -> str | None:
    if text is None or len(text) <= TEXT_CHARACTERS_MAX:
        return text
    return f"{text[:TEXT_CHARACTERS_MAX]}… ({len(text)} characters)"
