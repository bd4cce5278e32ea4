"""The fields of documents that facts are made of.

`wire` adds the fields that identify an object and its version, so that a
document is decoded once for both.

Nodes and Pods are decoded as the API defines them. Of any other kind only the
metadata is certain: its spec and status are read one by one, and one of
another form counts as absent.
"""

from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


class Shape(msgspec.Struct, rename="camel", gc=False):
    """Absent or null fields are None."""


class Owner(Shape, omit_defaults=True):
    """A reference to an owner."""

    api_version: str | None = None
    kind: str | None = None
    name: str | None = None
    uid: str | None = None
    controller: bool | None = None


class Managed(Shape):
    """The fields of an object that one writer owns."""

    manager: str | None = None
    operation: str | None = None
    subresource: str | None = None
    time: str | None = None
    fields_v1: msgspec.Raw = msgspec.field(
        default=msgspec.Raw(), name="fieldsV1"
    )


class Naming(Shape):
    """Identifies an object."""

    uid: str | None = None
    name: str | None = None
    namespace: str | None = None
    creation_timestamp: str | None = None


class Metadata(Naming):
    """What every object carries.

    Fields that rarely change stay undecoded, for readers that need them.
    """

    deletion_timestamp: str | None = None
    labels: msgspec.Raw = msgspec.Raw()
    annotations: msgspec.Raw = msgspec.Raw()
    owner_references: msgspec.Raw = msgspec.Raw()
    managed_fields: list[msgspec.Raw] | None = None


class Condition(Shape):
    """A condition of a status."""

    type: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None


class Taint(Shape):
    """A taint of a node."""

    key: str | None = None
    value: str | None = None
    effect: str | None = None
    time_added: str | None = None


class NodeInfo(Shape):
    """What a kubelet reports of its machine."""

    boot_id: str | None = msgspec.field(default=None, name="bootID")
    machine_id: str | None = msgspec.field(default=None, name="machineID")
    system_uuid: str | None = msgspec.field(default=None, name="systemUUID")
    kernel_version: str | None = None
    os_image: str | None = None
    kubelet_version: str | None = None
    container_runtime_version: str | None = None


class NodeSpec(Shape):
    """The desired state of a Node."""

    unschedulable: bool | None = None
    taints: list[Taint] | None = None
    provider_id: str | None = msgspec.field(default=None, name="providerID")


class NodeStatus(Shape):
    """The status of a Node."""

    conditions: list[Condition] | None = None
    node_info: msgspec.Raw = msgspec.Raw()
    capacity: msgspec.Raw = msgspec.Raw()
    allocatable: msgspec.Raw = msgspec.Raw()


class Node(Shape):
    """A Node."""

    metadata: Metadata | None = None
    spec: NodeSpec | None = None
    status: NodeStatus | None = None


class _Resources(Shape):
    requests: dict[str, str | int] | None = None
    limits: dict[str, str | int] | None = None


class Container(Shape):
    """A container as it was requested."""

    name: str | None = None
    resources: _Resources | None = None
    restart_policy: str | None = None


class Commanded(Shape):
    """What a container runs, and whether it may do anything to its node."""

    command: list[str] | None = None
    args: list[str] | None = None
    security_context: dict[str, Any] | None = None


class PodSpec(Shape):
    """The desired state of a Pod."""

    node_name: str | None = None
    priority: int | None = None
    priority_class_name: str | None = None
    host_pid: bool | None = msgspec.field(default=None, name="hostPID")
    containers: msgspec.Raw = msgspec.Raw()
    init_containers: msgspec.Raw = msgspec.Raw()


class Terminated(Shape):
    """How a container ended."""

    exit_code: int | None = None
    signal: int | None = None
    reason: str | None = None
    message: str | None = None
    started_at: str | None = None
    finished_at: str | None = None


class _State(Shape):
    terminated: Terminated | None = None


class ContainerStatus(Shape):
    """The status of a container."""

    name: str | None = None
    restart_count: int | None = None
    state: _State | None = None
    last_state: _State | None = None


class _PodStatus(Shape):
    phase: str | None = None
    reason: str | None = None
    message: str | None = None
    start_time: str | None = None
    conditions: list[Condition] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    container_statuses: list[ContainerStatus] | None = None


class Pod(Shape):
    """A Pod."""

    metadata: Metadata | None = None
    spec: PodSpec | None = None
    status: _PodStatus | None = None


class AnySpec(Shape):
    """Members of a spec with the same meaning in many kinds."""

    node_name: Any = None
    dpu_node_name: Any = None
    """Of a DPU: the DPUNode that it is built into, named as the host."""

    node_ref: Any = None
    node: Any = None
    username: Any = None
    request: Any = None
    suspend: Any = None
    replicas: Any = None
    parallelism: Any = None
    completions: Any = None
    unschedulable: Any = None
    queue: Any = None
    driver: Any = None
    devices: msgspec.Raw = msgspec.Raw()
    """Of a ResourceSlice."""

    min_member: Any = None
    min_available: Any = None
    enable_in_tree_autoscaling: Any = None
    elastic_policy: msgspec.Raw = msgspec.Raw()
    tasks: msgspec.Raw = msgspec.Raw()
    worker_group_specs: msgspec.Raw = msgspec.Raw()
    ray_cluster_spec: msgspec.Raw = msgspec.Raw()
    pytorch_replica_specs: msgspec.Raw = msgspec.Raw()
    tf_replica_specs: msgspec.Raw = msgspec.Raw()
    mpi_replica_specs: msgspec.Raw = msgspec.Raw()
    xgb_replica_specs: msgspec.Raw = msgspec.Raw()
    paddle_replica_specs: msgspec.Raw = msgspec.Raw()
    jax_replica_specs: msgspec.Raw = msgspec.Raw()


class AnyStatus(Shape):
    """Members of a status with the same meaning in many kinds."""

    phase: Any = None
    state: Any = None
    job_status: Any = None
    application_state: Any = None
    sync_status: Any = None
    current_state: Any = msgspec.field(default=None, name="current_state")
    node_name: Any = None
    node_ref: Any = None
    kube_node_ref: Any = None
    """Of a DPUNode: the Node of the host, in this cluster."""

    conditions: msgspec.Raw = msgspec.Raw()
    active: Any = None
    ready: Any = None
    succeeded: Any = None
    failed: Any = None
    restarts: Any = None
    unhealthy_nodes: Any = None
    start_time: Any = None
    completion_time: Any = None
    end_time: Any = None
    finished_at: Any = None
    termination_time: Any = None


class AnyObject(Shape):
    """An object of any other kind, in the usual form."""

    metadata: Metadata | None = None
    spec: AnySpec | None = None
    status: AnyStatus | None = None


class _OddObject(Shape):
    metadata: Metadata | None = None
    spec: msgspec.Raw = msgspec.Raw()
    status: msgspec.Raw = msgspec.Raw()


class Series(Shape):
    """How often an Event was repeated."""

    count: int | None = None
    last_observed_time: str | None = None


class Reporter(Shape):
    """The reporter of an Event, in the older of its two forms."""

    component: str | None = None
    host: str | None = None


class Event(Shape):
    """An Event, by the names of ``v1`` and of ``events.k8s.io/v1``."""

    metadata: Naming | None = None
    type: str | None = None
    reason: str | None = None
    message: str | None = None
    note: str | None = None
    action: str | None = None
    count: int | None = None
    deprecated_count: int | None = None
    series: Series | None = None
    source: Reporter | None = None
    deprecated_source: Reporter | None = None
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    event_time: str | None = None


read_node = msgspec.json.Decoder(Node).decode
read_pod = msgspec.json.Decoder(Pod).decode
_read_any = msgspec.json.Decoder(AnyObject).decode
_read_odd = msgspec.json.Decoder(_OddObject).decode
read_event = msgspec.json.Decoder(Event).decode


def read_any(raw: bytes) -> AnyObject:
    """Parse an object of a kind whose metadata alone is certain.

    Raises:
        ValueError: it is not an object.
        RecursionError: it is nested too deeply to parse.
    """
    try:
        return _read_any(raw)
    except msgspec.ValidationError:
        odd = _read_odd(raw)
    return AnyObject(
        odd.metadata,
        _leniently(odd.spec, AnySpec),
        _leniently(odd.status, AnyStatus),
    )


def _leniently(raw: msgspec.Raw, shape: type[T]) -> T:
    """Parse a part of a document; an empty one if it has another form."""
    if not bytes(raw):
        return shape()
    try:
        return msgspec.json.decode(raw, type=shape)
    except (ValueError, RecursionError):
        return shape()
