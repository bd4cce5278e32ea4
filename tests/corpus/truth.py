"""The truth of an incident: what its injector was about to do.

A truth is written beside a tape by the one who made the incident happen, in
the names that answers use, and before any of it was recorded. Only the times
of the acts are filled in afterwards, because they are not known before. It
says what the evidence on the tape allows to conclude, not what an omniscient
observer would: a crash whose reason nothing recorded has the cause
``unrecorded``.

This knows the shape of the file and its rules, and no incident.
"""

from pathlib import Path
from typing import Any, Literal

import msgspec

__all__ = [
    "Act",
    "Actor",
    "ClusterFacts",
    "NodeFacts",
    "Question",
    "Truth",
    "TruthError",
    "Verdict",
    "Workload",
    "problems",
    "read_truth",
    "write_truth",
]

Happened = Literal[
    "reboot",
    "kubelet-restart",
    "unreachable",
    "rejoined",
    "replaced",
    "removed",
    "joined",
    "drained",
    "cordoned",
    "degraded",
]
Mode = Literal["planned", "abrupt", "unknown"]
Fault = Literal[
    "kernel-panic",
    "hung-kernel",
    "gpu-fault",
    "memory-fault",
    "power-loss",
    "thermal-fault",
    "link-fault",
    "disk-fault",
    "system-oom",
    "container-oom",
    "kubelet-failure",
    "runtime-failure",
    "network-partition",
    "control-plane-outage",
    "monitoring-failed",
    "other-fault",
]
Decision = Literal[
    "admin-request",
    "auto-remediation",
    "os-upgrade",
    "driver-upgrade",
    "host-maintenance",
    "scale-down",
    "preemption",
    "manual-drain",
    "node-deletion",
]
ActorKind = Literal["user", "controller", "kubelet", "cloud", "unknown"]
Confidence = Literal["proven", "likely", "possible", "unknown"]
HitBy = Literal["node-failure", "drain", "preemption", "eviction", "deletion"]
Outcome = Literal[
    "failed",
    "restarted",
    "rescheduled",
    "preempted",
    "survived",
    "completed",
    "down",
    "unknown",
]


class _Struct(
    msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True
):
    """A part of a truth: every field is known."""


class NodeFacts(_Struct, kw_only=True, frozen=True):
    """A node of the cluster."""

    name: str
    rack: str | None
    gpus: int
    """-1 for a node without a device plugin."""


class ClusterFacts(_Struct, kw_only=True, frozen=True):
    """What a reader of the tape could know about the cluster."""

    kubernetes: str
    nodes: list[NodeFacts]
    audit: bool
    real: list[str]
    """Controllers that ran as their makers wrote them."""

    imitated: list[str] = []
    """Controllers whose traces the injector left in their stead."""

    shortened: dict[str, str] = {}
    """Settings that are shorter than a production cluster has them."""


class Act(_Struct, kw_only=True, frozen=True):
    """Something that the injector did."""

    label: str
    did: str
    at: str | None = None
    """When it was done, RFC 3339 in UTC; None until then."""


class Actor(_Struct, kw_only=True, frozen=True):
    """Who decided, as far as the tape shows."""

    kinds: list[ActorKind]
    """Any of these is right."""

    name: str | None = None
    """None where no name is required."""

    never: list[str] = []
    """Names that nothing on the tape supports."""


class Verdict(_Struct, kw_only=True, frozen=True):
    """The verdict expected about one node."""

    id: str
    """Within this file, for its questions."""

    node: str
    happened: Happened
    mode: Mode
    cause: Fault | Decision | Literal["unrecorded"]
    fault: Fault | None = None
    decision: Decision | None = None
    actor: Actor | None = None
    boot_id_before: str | None = None
    boot_id_after: str | None = None
    """None where the node did not come back."""

    back_in_service: bool | None = None
    """None where it never left service, or this cannot be known."""

    back_between: list[str] = []
    """Acts between which it is back; empty where it is not."""

    confidence_at_most: Confidence
    accept: dict[str, list[str | None]] = {}
    """Other answers that the evidence bears as well, by field; None as what
    ``happened`` is no verdict at all."""

    unsure: str | None = None
    """Why another answer might be expected."""


class Workload(_Struct, kw_only=True, frozen=True):
    """The answer expected about one workload."""

    kind: str
    namespace: str
    name: str
    hit_by: HitBy
    outcome: Outcome
    first_node: str
    nodes: list[str]
    """Nodes on which it lost, or could have lost, Pods."""

    pods_hit: list[str]
    gang_size: int
    gpus: int
    accept: dict[str, list[Any]] = {}
    optional: bool = False
    """Whether leaving it out is right as well."""

    replacements: bool = False
    """Whether Pods that took the place of these were lost as well: their
    names are not known before."""

    again_at: str | None = None
    """When it ran in full again; not asked where it is None."""

    hours: list[float] = []
    """The least and the most GPU-hours that were lost, if it is asked."""

    unsure: str | None = None


class Question(_Struct, kw_only=True, frozen=True):
    """A window of a node, with the right answers."""

    node: str
    since: str
    """An act; its time is in `Truth.acts`."""

    until: str
    since_at: str | None = None
    until_at: str | None = None
    verdicts: list[str]
    """Their ids, in order; none where nothing happened."""

    workloads: list[str]
    """As ``Kind/namespace/name``."""

    rack: str | None = None
    """What is asked instead of a node, which is empty then."""

    labels: dict[str, str] = {}


class Truth(_Struct, kw_only=True, frozen=True):
    """An incident."""

    incident: str
    says: str
    cluster: ClusterFacts
    acts: list[Act]
    verdicts: list[Verdict]
    workloads: list[Workload]
    not_workloads: list[str]
    """As ``Kind/namespace/name``: near, and not hit."""

    questions: list[Question]
    edited: list[str] = []
    """What was done to the tape after it was recorded."""


class TruthError(Exception):
    """A file is not a truth; the message has the reason."""


def write_truth(path: Path, truth: Truth) -> None:
    """Write a truth for people to read."""
    text = msgspec.json.format(msgspec.json.encode(truth), indent=1)
    path.write_bytes(text + b"\n")


def read_truth(path: Path) -> Truth:
    """Read a truth.

    Raises:
        TruthError: It is not one.
    """
    try:
        truth = msgspec.json.decode(path.read_bytes(), type=Truth)
    except msgspec.DecodeError as error:
        message = f"{path.name}: {error}"
        raise TruthError(message) from error
    found = problems(truth)
    if found:
        message = f"{path.name}: {'; '.join(found)}"
        raise TruthError(message)
    return truth


def named(workload: Workload) -> str:
    """Return a workload as questions name it."""
    return f"{workload.kind}/{workload.namespace}/{workload.name}"


def problems(truth: Truth) -> list[str]:
    """Return the contradictions in a truth."""
    found: list[str] = []
    nodes = {node.name for node in truth.cluster.nodes}
    acts = [act.label for act in truth.acts]
    if len(set(acts)) != len(acts):
        found.append("two acts of one label")
    for verdict in truth.verdicts:
        found += _of_verdict(verdict, nodes, acts)
    for workload in truth.workloads:
        found += _of_workload(workload, nodes, truth)
    ids = {verdict.id for verdict in truth.verdicts}
    names = {named(workload) for workload in truth.workloads}
    for question in truth.questions:
        found += _unknown_acts({question.since, question.until}, acts)
        found += _unknown("node", {question.node} - {""}, nodes)
        found += _unknown("verdict", set(question.verdicts), ids)
        found += _unknown("workload", set(question.workloads), names)
    return found


def _of_verdict(
    verdict: Verdict, nodes: set[str], acts: list[str]
) -> list[str]:
    found = _unknown("node", {verdict.node}, nodes)
    found += _unknown_acts(set(verdict.back_between), acts)
    expected = verdict.fault or verdict.decision or "unrecorded"
    if verdict.cause != expected:
        found.append(f"{verdict.id}: the cause is {expected}")
    if bool(verdict.back_between) != bool(verdict.back_in_service):
        found.append(f"{verdict.id}: back in service, and when?")
    if (verdict.actor is None) != (verdict.decision is None):
        found.append(f"{verdict.id}: an actor goes with a decision")
    rebooted = verdict.boot_id_before != verdict.boot_id_after
    if verdict.happened == "reboot" and not rebooted:
        found.append(f"{verdict.id}: a reboot changes the boot id")
    return found


def _of_workload(
    workload: Workload, nodes: set[str], truth: Truth
) -> list[str]:
    name = named(workload)
    found = _unknown("node", {*workload.nodes, workload.first_node}, nodes)
    if workload.first_node not in workload.nodes:
        found.append(f"{name}: its first node is one of its nodes")
    if name in truth.not_workloads:
        found.append(f"{name}: hit, and not hit")
    if not any(name in question.workloads for question in truth.questions):
        found.append(f"{name}: no question is about it")
    return found


def _unknown_acts(named_here: set[str], acts: list[str]) -> list[str]:
    """Return the acts that were not done; none before the first one."""
    return _unknown("act", named_here, set(acts)) if acts else []


def _unknown(what: str, named_here: set[str], known: set[str]) -> list[str]:
    return [f"no {what} {name!r}" for name in sorted(named_here - known)]
