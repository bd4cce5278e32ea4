"""Imitations of controllers that reboot nodes.

They leave what their originals leave, in the same order and under the same
words: a node life cycle controller that acts on conditions, a detector of
node problems, NVSentinel, kured, and a provider's notice of interruption.
None of them decides anything; the incident calls them.
"""

import json
from typing import Any

from tests.corpus.acting import Controller, moment
from tests.corpus.identities import ALICE
from tests.corpus.stage import Stage

__all__ = [
    "LIFECYCLE",
    "REQUEST",
    "detect",
    "install_kured",
    "kured_reboot",
    "lifecycle_reboot",
    "request_reboot",
]

LIFECYCLE = "node-lifecycle-controller"

RESERVED = "node.coreweave.cloud/reserved"
STATE = "node.coreweave.cloud/state"
CORDON_REASON = "node.coreweave.cloud/cordonReason"
PENDING = "node.coreweave.cloud/pending-state"

REQUEST = "production-powerreset"

LOCK = "weave.works/kured-node-lock"

VERIFICATION_SECONDS = 4


async def request_reboot(stage: Stage, kubectl: Any, node: str) -> None:
    """Let a person ask for a reboot by setting a condition."""
    condition = {
        "type": "PendingPhaseState",
        "status": "True",
        "reason": REQUEST,
        "message": "storage client is stuck after the upgrade",
        "lastHeartbeatTime": moment(),
        "lastTransitionTime": moment(),
    }
    patch = json.dumps({"status": {"conditions": [condition]}})
    stage.did("request", f"{ALICE} sets PendingPhaseState on {node}")
    await kubectl(
        "patch", "node", node, "--subresource=status",
        "--type=strategic", "-p", patch,
    )  # fmt: skip
    await kubectl("label", "node", node, f"{PENDING}={REQUEST}")


async def detect(
    detector: Controller, node: str, *, deadlock: bool = True
) -> None:
    """Say that a kernel is deadlocked, as node-problem-detector does."""
    says = "watchdog: BUG: soft lockup - CPU#63 stuck for 25s! [kswapd0:428]"
    if deadlock:
        await detector.event(
            await detector.node_reference(node),
            "CPUSoftLockup",
            "Node condition KernelDeadlock is now: True, reason: "
            f'CPUSoftLockup, message: "{says}"',
            kind="Warning",
            component="kernel-monitor",
            host=node,
        )
        await detector.condition(
            node, "KernelDeadlock", "True", "CPUSoftLockup", says
        )
        return
    await detector.condition(
        node,
        "KernelDeadlock",
        "False",
        "KernelHasNoDeadlock",
        "kernel has no deadlock",
    )


async def lifecycle_reboot(  # noqa: PLR0913 - a story has many words
    stage: Stage,
    controller: Controller,
    node: str,
    *,
    reason: str,
    phase: str,
    off: float,
    number: int = 2,
) -> None:
    """Cordon a node, reboot it, verify it, and take it back."""
    stage.did("cordon", f"{LIFECYCLE} cordons {node}")
    await controller.mark(
        node, annotations={CORDON_REASON: reason}, unschedulable=True
    )
    await controller.condition(
        node, "PendingPhaseState", "True", phase, f"{node} leaves production"
    )
    await stage.pause(3)
    await controller.mark(node, labels={STATE: phase})
    await controller.condition(
        node,
        "NLCCImmediateReboot",
        "True",
        "NLCCRedfishReboot",
        "reboot by Redfish",
    )
    await stage.crash(node, label="power-off")
    await stage.pause(off)
    await controller.taint(node, RESERVED, "verification", "NoExecute")
    await stage.boot(node, number)
    await stage.pause(2)
    for kind in ("NLCCImmediateReboot", "PendingPhaseState"):
        await controller.condition(node, kind, "False", "Done", "done")
    await controller.mark(node, labels={STATE: "verification", PENDING: None})
    await stage.pause(VERIFICATION_SECONDS)
    await controller.untaint(node, RESERVED)
    stage.did("verified", f"{LIFECYCLE} has verified {node}")
    await stage.ready(node)
    stage.did("uncordon", f"{LIFECYCLE} uncordons {node}")
    await controller.mark(
        node,
        labels={STATE: "production"},
        annotations={CORDON_REASON: None},
        unschedulable=False,
    )


async def install_kured(stage: Stage) -> None:
    """Make the DaemonSet whose annotation is kured's lock."""
    labels = {"name": "kured"}
    container = {"name": "kured", "image": "ghcr.io/kubereboot/kured:1.20.0"}
    daemon = {
        "metadata": {"name": "kured"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "containers": [container],
                    "tolerations": [{"operator": "Exists"}],
                    "terminationGracePeriodSeconds": 1,
                },
            },
        },
    }
    await stage.api.create(
        "/apis/apps/v1/namespaces/kube-system/daemonsets", daemon
    )


async def kured_reboot(
    stage: Stage, kured: Controller, node: str, *, kernel: str, off: float
) -> None:
    """Lock, cordon, drain, reboot into another kernel, and take it back."""
    daemon = "/apis/apps/v1/namespaces/kube-system/daemonsets/kured"
    progress = "weave.works/kured-reboot-in-progress"
    needed = "weave.works/kured-most-recent-reboot-needed"
    lock = {
        "nodeID": node,
        "metadata": {"unschedulable": False},
        "created": moment(),
        "TTL": 0,
    }
    stage.did(f"lock {node}", f"kured takes the lock for {node}")
    await kured.mark(node, annotations={progress: moment(), needed: moment()})
    locked = {"metadata": {"annotations": {LOCK: json.dumps(lock)}}}
    await kured.patch(daemon, locked)
    await kured.mark(node, unschedulable=True)
    await kured.evict_all(node)
    await stage.pause(1)
    await stage.crash(node, label=f"reboot {node}")
    await stage.pause(off)
    await stage.boot(node, label=f"boot {node}", kernel=kernel)
    await stage.ready(node)
    await stage.pause(3)
    stage.did(f"uncordon {node}", f"kured uncordons {node}")
    await kured.mark(node, unschedulable=False)
    await kured.mark(node, annotations={progress: None})
    await kured.patch(daemon, {"metadata": {"annotations": {LOCK: None}}})
    stage.did(f"unlock {node}", f"kured releases the lock of {node}")
