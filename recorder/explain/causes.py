"""Causes: one row for each fault and each decision.

A row describes a cause as data: its signature, its words in a sentence, what
looks similar, and what else would show it. ``faults`` infers which fault
took a node away.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from recorder.model.outcomes import Decision, Fault, Happened

__all__ = [
    "DECISIONS",
    "DecisionRow",
    "FAULTS",
    "FaultRow",
    "GONE",
    "LOST",
    "STAYED",
    "STAYING",
    "Weight",
]

GONE = frozenset({Happened.REMOVED, Happened.REJOINED, Happened.REPLACED})
"""What ends the life of a Node."""

LOST = GONE | {
    Happened.REBOOT,
    Happened.UNREACHABLE,
    Happened.KUBELET_RESTART,
}
"""What takes a node away, for a moment or for good."""

STAYED = frozenset({Happened.DEGRADED, Happened.JOINED})
"""What leaves a node in service."""

STAYING = frozenset({Happened.DRAINED, Happened.CORDONED})
"""What takes a node out of service and leaves it running."""


class Weight(IntEnum):
    """How a fault is found; of several, the greatest weight counts."""

    CONCLUDED = 1
    """Not recorded; it follows from what happened."""

    RECORDED = 2
    """Recorded as broken by a program or a person."""

    SHARED = 3
    """It affected all nodes at once."""

    PROVED = 4
    """A record from the machine itself."""


class Proof(NamedTuple):
    """Evidence that an API server does not have."""

    evidence: str
    would_tell: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRow:
    """Something that breaks."""

    signature: str
    """What it looks like, for the table in the documentation."""

    lookalikes: tuple[str, ...]
    """Similar causes, and how they differ."""

    weight: Weight = Weight.RECORDED
    concluded: str | None = None
    """Its words in a sentence, if it is inferred and not recorded."""

    by_itself: bool = False
    """Whether it happens by itself: a loss is abrupt even if the node was
    cordoned or drained before."""

    spares_kubelet: bool = False
    """Whether the kubelet keeps running while the part is broken."""

    harmless: bool = False
    """Whether nothing broke on the node: it is a reason to act, but does not
    take a node away."""

    explains_loss: bool = True
    """Whether a report of it from before a loss may explain the loss; false if
    it cannot take a node away, or is proved only afterwards."""

    proof: Proof | None = None
    """What would show it. Every reboot without a decision and without a proven
    cause names it as missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
    """Something that a person or a program decides."""

    signature: str
    lookalikes: tuple[str, ...]
    purpose: str
    """Its purpose in a sentence; empty if only a fault gives it."""

    announced: bool = False
    """Whether one author may announce it and another carry it out."""


FAULTS: Final[dict[Fault, FaultRow]] = {
    Fault.KERNEL_PANIC: FaultRow(
        signature=(
            "a crash dump (VMcore), pstore, gpud or an Event about the boot"
            " before reports a panic"
        ),
        lookalikes=(
            "power loss, a reset, a hard hang: then the cause is unrecorded",
        ),
        weight=Weight.PROVED,
        by_itself=True,
        explains_loss=False,  # it is proved after the boot, if ever
        proof=Proof("pstore", "whether the kernel panicked, and where"),
    ),
    Fault.CONTROL_PLANE: FaultRow(
        signature=(
            "nearly all nodes turn Unknown at once, across racks, and recover"
            " with the same boot IDs"
        ),
        lookalikes=(
            "power-loss: one rack only, and with new boot IDs",
            "network-partition: one node, or those behind one switch",
        ),
        weight=Weight.SHARED,
        concluded="a control plane outage: all nodes were lost at once",
    ),
    Fault.GPU: FaultRow(
        signature=(
            "a condition or fewer allocatable GPUs show that a GPU failed"
        ),
        lookalikes=(
            (
                "application errors (Xid 13, 31, 43, 45, 94), which are not a"
                " fault"
            ),
        ),
        spares_kubelet=True,
    ),
    Fault.MEMORY: FaultRow(
        signature="a condition or an Event about an uncorrected memory error",
        lookalikes=(
            "container-oom and system-oom: memory ran out, it did not fail",
        ),
    ),
    Fault.THERMAL: FaultRow(
        signature="a condition about temperature",
        lookalikes=("gpu-fault: the GPU failed, not its cooling",),
    ),
    Fault.LINK: FaultRow(
        signature=(
            "a condition about a link; Ready stays True, the boot ID is the"
            " same"
        ),
        lookalikes=(
            "a peer that reports the same link: the earliest report is used",
        ),
        spares_kubelet=True,
    ),
    Fault.DISK: FaultRow(
        signature="a condition or an Event about a file system or a disk",
        lookalikes=(
            "evictions because of low disk space, which are not a fault",
        ),
    ),
    Fault.RUNTIME: FaultRow(
        signature=(
            "a condition about the container runtime, or the kubelet reports"
            " that it is waiting for it"
        ),
        lookalikes=("kubelet-failure: the kubelet itself was down",),
    ),
    Fault.HUNG_KERNEL: FaultRow(
        signature=(
            "KernelDeadlock or an Event about a stuck task; Ready may stay"
            " True"
        ),
        lookalikes=(
            "kernel-panic: the machine is gone at once, without a report",
        ),
    ),
    Fault.SYSTEM_OOM: FaultRow(
        signature="an Event SystemOOM from the kubelet before the loss",
        lookalikes=("container-oom: the container exceeded its own limit",),
    ),
    Fault.CONTAINER_OOM: FaultRow(
        signature=(
            "a container ended with reason OOMKilled; the node is healthy"
        ),
        lookalikes=("exit code 137 alone, which any SIGKILL causes",),
        weight=Weight.CONCLUDED,
        explains_loss=False,  # a container's limit takes no node away
    ),
    Fault.MONITORING: FaultRow(
        signature=(
            "a monitor reports that it cannot reach what it asks, such as"
            " DCGM or a device plugin"
        ),
        lookalikes=(
            "gpu-fault: a GPU failed; here nothing says that one did",
        ),
        harmless=True,
        spares_kubelet=True,
    ),
    Fault.OTHER: FaultRow(
        signature=(
            "a condition that a rule knows as a fault of none of these"
            " classes, or Ready=False with what the kubelet waits for; or one"
            " without a rule that the author of an act on the node names as"
            " the reason, or for which the author held the node as long as it"
            " lasted"
        ),
        lookalikes=("conditions without a rule that no act names: no fault",),
    ),
    Fault.KUBELET: FaultRow(
        signature=(
            'the kubelet reports "Starting" and the boot ID is the same; or'
            " audit shows that its credentials are refused (401)"
        ),
        lookalikes=(
            "a reboot: the boot ID changes",
            "network-partition: no kubelet starts",
        ),
        weight=Weight.CONCLUDED,
        concluded="its kubelet stopped or was restarted",
    ),
    Fault.POWER_LOSS: FaultRow(
        signature=(
            "all nodes of a rack or a PDU that were up stop renewing within"
            " one interval, and every one of them reboots"
        ),
        lookalikes=(
            "network-partition: the boot IDs stay the same",
            "kernel-panic: a single machine",
        ),
        weight=Weight.CONCLUDED,
        concluded="a power loss: its neighbors went down too",
        by_itself=True,
        proof=Proof("bmc", "whether power was lost or the machine was reset"),
    ),
    Fault.PARTITION: FaultRow(
        signature=(
            "Ready turns Unknown and True again; the boot ID is the same, and"
            " no kubelet started"
        ),
        lookalikes=(
            "kubelet-failure: a kubelet starts at the end",
            "control-plane-outage: all nodes at once",
            "a machine that hung and recovered, which no record distinguishes",
        ),
        weight=Weight.CONCLUDED,
        concluded="the network was cut, or the machine hung and recovered",
    ),
}

DECISIONS: Final[dict[Decision, DecisionRow]] = {
    Decision.PREEMPTION: DecisionRow(
        signature="a spot interruption notice before the loss",
        lookalikes=("scale-down: the cluster decided, not the provider",),
        purpose="because its capacity was reclaimed",
        announced=True,
    ),
    Decision.HOST_MAINTENANCE: DecisionRow(
        signature="a maintenance notice from the provider before the loss",
        lookalikes=("preemption: the machine does not come back",),
        purpose="for host maintenance",
        announced=True,
    ),
    Decision.SCALE_DOWN: DecisionRow(
        signature=(
            "a taint or an Event of an autoscaler, then evictions, then the"
            " Node is deleted"
        ),
        lookalikes=(
            "node-deletion: it was not announced",
            (
                "auto-remediation: a fault held, and no Event announced a"
                " scale-down"
            ),
        ),
        purpose="to scale the cluster down",
    ),
    Decision.OS_UPGRADE: DecisionRow(
        signature=(
            "kured's lock names the node, or the machine config operator"
            " announces a reboot; the kernel or the image changes"
        ),
        lookalikes=(
            "admin-request: the versions are the same",
            "manual-drain: no reboot was announced",
        ),
        purpose="for an operating system update",
    ),
    Decision.DRIVER_UPGRADE: DecisionRow(
        signature=(
            "the label of the GPU operator goes from upgrade-required to"
            " upgrade-done; the boot ID is the same"
        ),
        lookalikes=(
            "gpu-fault: GPUs are missing from allocatable, without the label",
            "a reboot during the upgrade, which the upgrade did not request",
        ),
        purpose="for a GPU driver upgrade",
    ),
    Decision.AUTO_REMEDIATION: DecisionRow(
        signature=(
            "a fault, then a remediation object, a cordon or a request by a"
            " controller, then the loss"
        ),
        lookalikes=(
            "admin-request: no fault came first, or a person asked",
            "manual-drain: kubectl cordoned",
        ),
        purpose="to remediate it",
    ),
    Decision.ADMIN_REQUEST: DecisionRow(
        signature=(
            "a person sets a request condition, or one named after a reboot or"
            " maintenance, or a program that is not a remediation controller"
            " sets a request condition; no fault came first"
        ),
        lookalikes=("auto-remediation: a fault came first",),
        purpose="on request",
    ),
    Decision.MANUAL_DRAIN: DecisionRow(
        signature=(
            "a cordon or a taint by a person or kubectl, possibly evictions;"
            " the node stays Ready"
        ),
        lookalikes=(
            (
                "scale-down and auto-remediation: a controller cordons and"
                " reports it"
            ),
            "node-deletion: the Node is deleted as well",
        ),
        purpose="",
    ),
    Decision.NODE_DELETION: DecisionRow(
        signature=(
            "the Node is deleted; no notice and no autoscaler came before, or"
            " a person deletes a Node that a controller left for more than an"
            " hour"
        ),
        lookalikes=(
            "scale-down, preemption and host-maintenance: announced before",
        ),
        purpose="",
    ),
}
