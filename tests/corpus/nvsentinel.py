"""An imitation of NVSentinel, from the health event to the reboot.

Its modules each write under their own name: the connector sets conditions,
the quarantine cordons, the drainer evicts, the remediation makes a custom
resource, and the janitor reboots.
"""

import json
from typing import Any

from tests.cluster.waiting import until
from tests.corpus.acting import acting, moment
from tests.corpus.stage import Stage

__all__ = ["install_crd", "remediate", "report_xid"]

GROUP = "janitor.dgxc.nvidia.com"
RESOURCE = f"/apis/{GROUP}/v1alpha1/rebootnodes"
STATE = "dgxc.nvidia.com/nvsentinel-state"
CORDONED_BY = "k8saas.nvidia.com/cordon-by"
EVENT = "quarantineHealthEvent"

SAYS = (
    "ErrorCode:79 PCI:0000:b3:00.0 GPU_UUID:GPU-6f1d8a2e kernel: NVRM: Xid "
    "(PCI:0000:b3:00.0): 79, GPU has fallen off the bus. "
    "Recommended Action=RESTART_BM;"
)

OFF_SECONDS = 8


async def install_crd(stage: Stage) -> None:
    """Install the custom resource that asks for a reboot."""
    schema = {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
    }
    version = {
        "name": "v1alpha1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    names = {
        "kind": "RebootNode",
        "listKind": "RebootNodeList",
        "plural": "rebootnodes",
        "singular": "rebootnode",
    }
    await stage.api.create(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        {
            "metadata": {"name": f"rebootnodes.{GROUP}"},
            "spec": {
                "group": GROUP,
                "names": names,
                "scope": "Cluster",
                "versions": [version],
            },
        },
    )
    await until(lambda: stage.api.answers(RESOURCE), "RebootNodes are served")


async def report_xid(stage: Stage, node: str) -> None:
    """Set the condition of a GPU that has fallen off the bus."""
    async with acting(stage, "platform-connectors") as connector:
        stage.did("fault", f"{node}: Xid 79 is reported")
        await connector.condition(
            node,
            "SysLogsXIDError",
            "True",
            "SysLogsXIDErrorIsNotHealthy",
            SAYS,
        )


async def remediate(stage: Stage, node: str) -> None:
    """Quarantine a node, drain it, reboot it, and take it back."""
    health = {
        "nodeName": node,
        "checkName": "SysLogsXIDError",
        "errorCode": ["79"],
        "isFatal": True,
        "recommendedAction": 24,
    }
    async with acting(stage, "fault-quarantine") as quarantine:
        stage.did("quarantine", f"NVSentinel quarantines {node}")
        await quarantine.mark(
            node,
            labels={STATE: "quarantined", CORDONED_BY: "NVSentinel"},
            annotations={
                EVENT: json.dumps([health]),
                f"{EVENT}IsCordoned": "True",
            },
            unschedulable=True,
        )
    async with acting(stage, "node-drainer") as drainer:
        await drainer.mark(node, labels={STATE: "draining"})
        await drainer.evict_all(node)
        await drainer.mark(node, labels={STATE: "drain-succeeded"})
    name = f"maintenance-{node}-6740a1"
    async with acting(stage, "fault-remediation") as remediation:
        stage.did("remediation", f"NVSentinel asks to reboot {node}")
        await remediation.mark(node, labels={STATE: "remediating"})
        await remediation.create(
            RESOURCE,
            {
                "apiVersion": f"{GROUP}/v1alpha1",
                "kind": "RebootNode",
                "metadata": {"name": name},
                "spec": {"nodeName": node, "force": False},
            },
        )
    await _reboot(stage, node, name)
    async with acting(stage, "platform-connectors") as connector:
        await connector.condition(
            node,
            "SysLogsXIDError",
            "False",
            "SysLogsXIDErrorIsHealthy",
            "No Health Failures",
        )
    async with acting(stage, "fault-quarantine") as quarantine:
        stage.did("uncordon", f"NVSentinel uncordons {node}")
        await quarantine.mark(
            node,
            labels={STATE: None, CORDONED_BY: None},
            annotations={EVENT: None, f"{EVENT}IsCordoned": None},
            unschedulable=False,
        )
    await stage.pause(2)
    async with acting(stage, "janitor") as janitor:
        await janitor.delete(f"{RESOURCE}/{name}")


async def _reboot(stage: Stage, node: str, name: str) -> None:
    async with acting(stage, "janitor") as janitor:
        path = f"{RESOURCE}/{name}/status"
        began = moment()
        sent = _condition("SignalSent", "True")
        waiting = _condition("NodeReady", "False", "Initializing")
        status: dict[str, Any] = {
            "startTime": began,
            "conditions": [sent, waiting],
        }
        await janitor.patch(path, {"status": status})
        await stage.crash(node, label="power-off")
        stage.machine(node).set_healthy_gpus(8)
        await stage.pause(OFF_SECONDS)
        await stage.boot(node)
        await stage.ready(node)
        await stage.pause(2)
        done = _condition("NodeReady", "True")
        status |= {"completionTime": moment(), "conditions": [sent, done]}
        await janitor.patch(path, {"status": status})


def _condition(
    kind: str, status: str, reason: str = "Succeeded"
) -> dict[str, str]:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": "",
        "lastTransitionTime": moment(),
    }
