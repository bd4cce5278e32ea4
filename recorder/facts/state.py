"""States: what of a document is compared with the next version of it.

A state is small and plain, so that those of thousands of objects can be kept
at hand, and the same from whichever document of an object it is made.
"""

import re
from base64 import b64decode
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

import msgspec

from recorder.facts.classify.shapes import (
    AnyObject,
    AnySpec,
    AnyStatus,
    Condition,
    Container,
    ContainerStatus,
    Metadata,
    Node,
    NodeSpec,
    NodeStatus,
    Owner,
    Pod,
    PodSpec,
    Shape,
    Taint,
    read_any,
    read_node,
    read_pod,
)
from recorder.facts.devices import placing_attributes
from recorder.facts.members import members_of
from recorder.facts.over import PHASES, ends_phase
from recorder.facts.parts import (
    mark_of,
    read_any_conditions,
    read_commands,
    read_containers,
    read_node_info,
    read_owners,
    read_texts,
)
from recorder.facts.texts import TEXT_CHARACTERS_MAX, all_cut, cut
from recorder.model.reference import Resource
from recorder.model.state import ContainerEnd, Scalar

_NO_METADATA = Metadata()
_NO_SPEC = AnySpec()
_NO_STATUS = AnyStatus()
_NO_POD_SPEC = PodSpec()
_NO_NODE_SPEC = NodeSpec()
_NO_NODE_STATUS = NodeStatus()
Wire = Node | Pod | AnyObject
_SCALARS = (str, int)
AMOUNTS = ("allocatable", "capacity")


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

    writers: list[int] = []
    """Hashes of the entries of ``managedFields``."""

    metadata_mark: int | None = None
    """Of labels, annotations and owners as they are written."""

    mark: int | None = None
    """Of what else hardly ever changes: what a Node is made of, or what a
    Pod asks for."""


def read_wire(raw: bytes, resource: Resource, read: Shape | None) -> Wire:
    """Read a document as far as every version is read.

    Args:
        raw: the document.
        resource: decides how it is read.
        read: the document as it was decoded, if it was.

    Raises:
        ValueError: it has not the shape that its kind has.
        RecursionError: it is nested too deeply.
    """
    if not resource.group and resource.plural == "nodes":
        return read if isinstance(read, Node) else read_node(raw)
    if not resource.group and resource.plural == "pods":
        return read if isinstance(read, Pod) else read_pod(raw)
    return read if isinstance(read, AnyObject) else read_any(raw)


def read_state(wire: Wire, resource: Resource, before: State | None) -> State:
    """Read the state of a document.

    Args:
        wire: the document.
        resource: decides how it is read.
        before: the state of an earlier version; parts that are written
            the same are taken from it. The result is the same without it.

    Raises:
        ValueError: it has not the shape that its kind has.
        RecursionError: it is nested too deeply.
    """
    metadata = wire.metadata or _NO_METADATA
    state = _common(metadata, before)
    if isinstance(wire, Node):
        _of_node(state, wire, before)
    elif isinstance(wire, Pod):
        _of_pod(state, wire, before)
    else:
        _of_any(state, wire, resource)
    return state


def _of_node(state: State, node: Node, before: State | None) -> None:
    spec, status = node.spec or _NO_NODE_SPEC, node.status or _NO_NODE_STATUS
    state.node = (node.metadata or _NO_METADATA).name
    state.taints = _taints(spec.taints)
    state.conditions = _conditions(status.conditions)
    info = bytes(status.node_info)
    amounts = bytes(status.allocatable), bytes(status.capacity)
    state.mark = mark_of(info, amounts, spec.unschedulable, spec.provider_id)
    if before is not None and before.mark == state.mark:
        state.fields, state.resources = before.fields, before.resources
        return
    fields: dict[str, Any] = {
        "unschedulable": spec.unschedulable or None,
        "provider_id": spec.provider_id,
    }
    read = read_node_info(info, "status.nodeInfo")
    if read is not None:
        fields |= msgspec.structs.asdict(read)
    state.fields = _present(fields)
    state.resources = {
        f"{name}/{resource}": amount
        for name, written in zip(AMOUNTS, amounts, strict=True)
        for resource, amount in (
            read_texts(written, f"status.{name}") or {}
        ).items()
    }


def _of_pod(state: State, pod: Pod, before: State | None) -> None:
    spec, status = pod.spec or _NO_POD_SPEC, pod.status
    state.node = spec.node_name or None
    fields: dict[str, Any] = {
        "priority": spec.priority,
        "priority_class": spec.priority_class_name,
    }
    if status is not None:
        fields["phase"] = status.phase
        fields["reason"] = status.reason
        fields["message"] = cut(status.message)
        fields["start_time"] = status.start_time
        state.conditions = _conditions(status.conditions)
        for statuses, init in (
            (status.init_container_statuses, True),
            (status.container_statuses, False),
        ):
            for container in statuses or ():
                _note_end(state.ends, container, init=init)
    state.fields = _present(fields)
    first, containers = bytes(spec.init_containers), bytes(spec.containers)
    state.mark = mark_of(first, containers)
    if spec.containers and state.node and not state.owners:
        state.fields |= _host_command(spec)
    if before is not None and before.mark == state.mark:
        state.gpus = before.gpus
        return
    state.gpus = gpus_of(
        read_containers(first, "spec.initContainers") or (),
        read_containers(containers, "spec.containers") or (),
    )


def _host_command(spec: PodSpec) -> dict[str, Scalar]:
    """Return what a Pod runs that may do anything to the node it is on."""
    written = bytes(spec.containers)
    if not (spec.host_pid or b'"privileged"' in written):
        return {}
    words = [
        word
        for one in read_commands(written, "spec.containers") or ()
        if spec.host_pid or (one.security_context or {}).get("privileged")
        for word in (*(one.command or ()), *(one.args or ()))
    ]
    return {"host_command": cut(" ".join(words)) or ""} if words else {}


VOLCANO: Final = frozenset({"batch.volcano.sh", "scheduling.volcano.sh"})
"""Groups whose objects name their queue in a field, not in a label."""


def _of_any(state: State, made: AnyObject, resource: Resource) -> None:
    metadata = made.metadata or _NO_METADATA
    spec, status = made.spec or _NO_SPEC, made.status or _NO_STATUS
    state.node = _named_node(metadata, state, (spec, status), resource)
    state.conditions = _conditions(
        read_any_conditions(bytes(status.conditions))
    )
    phase, since = _phase(status)
    ended = status.completion_time or status.end_time or status.finished_at
    if not ended and ends_phase(phase) is not None:
        ended = status.termination_time or since
    found: dict[str, Any] = {
        "phase": phase,
        "state": status.state,
        "suspend": spec.suspend,
        "replicas": spec.replicas,
        "parallelism": spec.parallelism,
        "completions": spec.completions,
        "members": members_of(spec, resource),
        "queue": spec.queue if resource.group in VOLCANO else None,
        "active": status.active,
        "ready": status.ready,
        "succeeded": status.succeeded,
        "failed": status.failed,
        "restarts": status.restarts,
        "start_time": status.start_time,
        "completion_time": ended,
    }
    state.fields = {
        name: value
        for name, value in found.items()
        if isinstance(value, _SCALARS)
    }
    if spec.devices:
        state.fields |= placing_attributes(spec.devices, spec.driver, resource)
    for entry in _listed(status.unhealthy_nodes):
        name = entry.get("name") if isinstance(entry, dict) else entry
        if isinstance(name, str):
            state.fields[f"unhealthy_node/{name}"] = True


def _phase(status: AnyStatus) -> tuple[Any, Any]:
    """Return how far an object is, and since when, where its kind says so."""
    for field, member in PHASES:
        part = getattr(status, field)
        found = part.get(member) if isinstance(part, dict) else part
        if isinstance(found, str) and (member is None) == (found is part):
            since = part.get("lastTransitionTime") if member else None
            return found, since
    return None, None


def _common(metadata: Metadata, before: State | None) -> State:
    labels, annotations = bytes(metadata.labels), bytes(metadata.annotations)
    owners = bytes(metadata.owner_references)
    state = State(
        uid=metadata.uid,
        created_at=metadata.creation_timestamp,
        deletion=metadata.deletion_timestamp,
        writers=[
            hash(bytes(entry)) for entry in metadata.managed_fields or ()
        ],
        metadata_mark=mark_of(labels, annotations, owners),
    )
    if before is not None and before.metadata_mark == state.metadata_mark:
        state.labels, state.annotations = before.labels, before.annotations
        state.owners = before.owners
        return state
    state.labels = read_texts(labels, "metadata.labels") or {}
    read = read_texts(annotations, "metadata.annotations") or {}
    state.annotations = all_cut(read)
    state.owners = read_owners(owners, "metadata.ownerReferences") or []
    return state


def _named_node(
    metadata: Metadata,
    state: State,
    parts: tuple[AnySpec, AnyStatus],
    resource: Resource,
) -> str | None:
    """Find the node that an object of any kind names as its own."""
    spec, status = parts
    owners = (o.name for o in state.owners if o.kind == "Node")
    for claim in (
        spec.node_name,
        spec.node,
        _member(spec.node, "name"),
        status.node_name,
        _member(status.node_ref, "name"),
        _member(spec.node_ref, "name"),
        status.kube_node_ref,
        spec.dpu_node_name,
        state.annotations.get("remediation.medik8s.io/node-name"),
        _asked_for(spec, resource),
        *owners,
    ):
        if isinstance(claim, str) and claim:
            return claim
    if resource.group.endswith("remediation.medik8s.io") or named_as_node(
        resource.group, resource.plural
    ):
        return metadata.name
    return None


def _asked_for(spec: AnySpec, resource: Resource) -> str | None:
    """Return the node whose kubelet a certificate is requested for.

    A kubelet that has one asks in its own name; one that joins asks in that
    of its token, with its name in the request.
    """
    if resource.group != "certificates.k8s.io":
        return None
    if isinstance(spec.username, str) and spec.username.startswith(KUBELET):
        return spec.username.removeprefix(KUBELET)
    try:
        text = b64decode(spec.request or "", validate=True)
        body = b"".join(text.split(b"-----")[2].split())
        found = _KUBELET.search(b64decode(body, validate=True))
    except (ValueError, TypeError, IndexError):
        return None
    if found is None:
        return None
    # The length of a text of ASN.1 precedes it.
    name = found[2][: found[1][0] - len(KUBELET)]
    return name.decode("ascii", "replace") if name else None


KUBELET = "system:node:"
_KUBELET = re.compile(
    rb"[\x0c\x13](.)system:node:([a-z0-9.-]{1,253})", re.DOTALL
)
"""The name of a kubelet in a request for a certificate."""


@lru_cache(4096)
def named_as_node(group: str, kind: str) -> bool:
    """Return whether objects of a kind are called as the node they are for.

    Args:
        group: of the kind; one of a definition has a domain.
        kind: the kind or its plural.
    """
    return (
        "." in group
        and kind.lower() not in {"node", "nodes"}  # of another kind of node
        and _OF_NODE.search(kind) is not None
    )


_OF_NODE = re.compile(
    r"node(?!pool|set|class|group|claim|template|polic|healthcheck|maint"
    r"|remed|config|deploy)|hosts?$",
    re.IGNORECASE,
)
"""Kinds of one object for each node, or for each bare machine."""


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _conditions(conditions: list[Condition] | None) -> dict[str, Condition]:
    return {
        c.type: c
        if c.message is None or len(c.message) <= TEXT_CHARACTERS_MAX
        else msgspec.structs.replace(c, message=cut(c.message))
        for c in conditions or ()
        if c.type
    }


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
            message=cut(ended.message),
            started_at=ended.started_at,
            finished_at=ended.finished_at,
            restarts=container.restart_count or 0,
            init=init,
        )
        return


def _present(fields: dict[str, Any]) -> dict[str, Scalar]:
    return {name: value for name, value in fields.items() if value is not None}


GPU = "gpu"
"""Part of the name of each accelerator resource, such as
``nvidia.com/gpu``."""


def gpus_of(
    first: Iterable[Container], containers: Iterable[Container]
) -> int:
    """Return what a Pod holds: what runs at once, beside what runs before.

    Args:
        first: its init containers.
        containers: the others.
    """
    held = sum(map(_gpus, containers))
    beside = most = 0
    for container in first:
        now = beside + _gpus(container)
        if container.restart_policy == "Always":
            beside = now
        most = max(most, now)
    return max(held + beside, most)


def _gpus(container: Container) -> int:
    resources = container.resources
    if resources is None:
        return 0
    asked = resources.limits or resources.requests or {}
    return sum(
        int(amount)
        for name, amount in asked.items()
        if name.endswith(GPU) and str(amount).isdecimal()
    )
