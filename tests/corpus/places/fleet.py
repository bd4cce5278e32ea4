"""The fleet of the laboratory of places: its machines and its objects.

The objects of DPF are written by a script after its documentation, with kinds
of its names and any schema; its controllers do not run.
"""

from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

import orjson

from tests.cluster.cluster import Cluster
from tests.cluster.definitions import CRDS, definition
from tests.cluster.machines import MachineSpec
from tests.cluster.waiting import until
from tests.corpus.identities import boot_id, machine_identity
from tests.corpus.placing import the_namespace

__all__ = [
    "DPF",
    "HOSTS",
    "LEAF",
    "PORT",
    "Dpf",
    "dpu_machines",
    "dpu_of",
    "fleet",
    "link_event",
    "redfish",
    "switch_event",
]

HOSTS: Final = [f"gpu-{number:03}" for number in range(1, 10)]

LEAF: Final = "fabric.topograph.run/tier-0"

PORT: Final = "backend.coreweave.cloud/neighbors.{}.{}.port-id"

DPF: Final = "provisioning.dpu.nvidia.com"

MANAGER: Final = "dpf-provisioning-controller-manager"

ZONE: Final = ZoneInfo("Europe/Berlin")
"""UFM writes local times."""


def _spec(cluster: str, name: str, labels: dict[str, str]) -> MachineSpec:
    identity = machine_identity(cluster, name)
    return MachineSpec(
        name=name,
        boot_id=boot_id(cluster, name, 1),
        machine_id=identity.hex,
        system_uuid=str(identity),
        labels=labels,
        status_every="3s",
        gpus=8 if name.startswith("gpu") else -1,
    )


def fleet(cluster: str) -> tuple[MachineSpec, ...]:
    """Return five hosts behind leaf-7 and four behind leaf-8.

    The fifth has a second rail, which leads to leaf-9.
    """
    found = []
    for number, name in enumerate(HOSTS, 1):
        leaf = "leaf-7" if number <= 5 else "leaf-8"
        rails = {"mlx5_0": f"{leaf}.{number}"}
        if number == 5:
            rails = {"mlx5_1": f"leaf-9.{number}"}
        labels = {LEAF: leaf}
        for interface, port in rails.items():
            labels[PORT.format("expected", interface)] = port
            labels[PORT.format("current", interface)] = port
        found.append(_spec(cluster, name, labels))
    return tuple(found)


SERIALS: Final = {"gpu-001": "mt2334xz09f1", "gpu-002": "mt2334xz09f2"}
"""Of the DPUs in the first two hosts: DPF names their DPUNodes by them."""


def dpu_of(host: str) -> str:
    """Return the name of the DPU of a host, and of its Node."""
    return f"dpu-node-{SERIALS[host]}-{SERIALS[host]}"


def dpu_machines(cluster: str) -> tuple[MachineSpec, ...]:
    """Return the DPUs of the first two hosts, as Nodes of their cluster."""
    return tuple(
        _spec(
            cluster,
            dpu_of(host),
            {f"{DPF}/dpunode-name": f"dpu-node-{serial}"},
        )
        for host, serial in SERIALS.items()
    )


def link_event(number: int, node: str, state: str) -> dict[str, Any]:
    """Return what UFM writes of a link between leaf-7 and a host."""
    port = int(node.removeprefix("gpu-"))
    went = "Link went down" if state == "down" else "Link went up"
    return _ufm(
        number,
        "329" if state == "down" else "328",
        name=f"Link is {state.title()}",
        type="Link",
        severity="Warning",
        object_name=f"f4521403008817f0_{port}",
        description=f"{went}: f4521403008817f0 (Switch: leaf-7) : {port}"
        f" - e41d2d0300a4f48{port} (Computer: {node} HCA-1) : 1",
    )


def switch_event(number: int, switch: str, state: str) -> dict[str, Any]:
    """Return what UFM writes of a switch."""
    return _ufm(
        number,
        "907" if state == "down" else "908",
        name=f"Switch is {state.title()}",
        type="Switch",
        severity="Critical",
        object_name=switch,
        description=f"Switch {switch} is {state.title()}",
    )


def _ufm(number: int, event_type: str, **more: str) -> dict[str, Any]:
    return {
        "id": number,
        "event_type": event_type,
        "timestamp": f"{datetime.now(ZONE):%Y-%m-%d %H:%M:%S.%f}"[:-3],
        "counter": "N/A",
        "category": "Fabric Topology",
        "object_path": "default",
        "write_to_syslog": False,
        **more,
    }


def redfish(node: str, message: str, *arguments: str) -> dict[str, Any]:
    """Return what the service processor of a host sends."""
    record = {
        "EventType": "Alert",
        "EventId": "17",
        "MemberId": "0",
        "EventTimestamp": datetime.now(UTC).isoformat(),
        "Severity": "OK",
        "Message": message,
        "MessageId": message,
        "MessageArgs": [*arguments],
        "OriginOfCondition": {"@odata.id": "/redfish/v1/Systems/1"},
    }
    return {
        "@odata.type": "#Event.v1_7_0.Event",
        "Id": "1",
        "Name": "Event Array",
        "Context": node,
        "Events": [record],
    }


class Dpf:
    """The objects of DPF in the cluster of the hosts."""

    namespace: Final = "dpf-operator-system"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._served = f"/apis/{DPF}/v1alpha1"
        self._path = f"{self._served}/namespaces/{self.namespace}"

    async def install(self) -> None:
        """Define its kinds, and make the objects of two DPUs."""
        api = self._cluster.api
        await the_namespace(api, self.namespace)
        for kind in ("DPU", "DPUNode"):
            await api.create(CRDS, definition(kind, DPF, "v1alpha1"))
        for plural in ("dpus", "dpunodes"):
            path = f"{self._served}/{plural}"
            await until(
                lambda path=path: api.answers(path), f"{path} is served"
            )
        for host, serial in SERIALS.items():
            node = f"dpu-node-{serial}"
            dpu = {
                "dpuNodeName": node,
                "serialNumber": serial.upper(),
                "pciAddress": "0000-03-00",
                "bfb": "bf-bundle-2.9",
            }
            await self._create("DPU", dpu_of(host), {"spec": dpu})
            status = {"kubeNodeRef": host, "conditions": []}
            await self._create("DPUNode", node, {"status": status})

    async def _create(
        self, kind: str, name: str, parts: dict[str, Any]
    ) -> None:
        body = {
            "apiVersion": f"{DPF}/v1alpha1",
            "kind": kind,
            "metadata": {"name": name, "namespace": self.namespace},
            **parts,
        }
        await self._kubectl(
            "create", "-f", "-", stdin=orjson.dumps(body).decode()
        )

    async def phase(self, host: str, phase: str) -> None:
        """Let the DPU of a host enter a phase."""
        await self._patch(f"dpu/{dpu_of(host)}", {"phase": phase})

    async def condition(self, host: str, kind: str, status: str) -> None:
        """Set a condition of the DPUNode of a host, the only one."""
        condition = {
            "type": kind,
            "status": status,
            "reason": kind,
            "message": "",
            "lastTransitionTime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        }
        await self._patch(
            f"dpunode/dpu-node-{SERIALS[host]}", {"conditions": [condition]}
        )

    async def cordon(self, host: str, *, unschedulable: bool) -> None:
        """Cordon a host, or uncordon it."""
        patch = {"spec": {"unschedulable": unschedulable or None}}
        await self._kubectl(
            "patch", f"node/{host}", "--type=merge",
            "-p", orjson.dumps(patch).decode(),
        )  # fmt: skip

    async def _patch(self, named: str, status: dict[str, Any]) -> None:
        await self._kubectl(
            "patch", named, "-n", self.namespace, "--type=merge",
            "-p", orjson.dumps({"status": status}).decode(),
        )  # fmt: skip

    async def _kubectl(self, *arguments: str, stdin: str = "") -> None:
        await self._cluster.kubectl(
            *arguments, f"--field-manager={MANAGER}", stdin=stdin
        )
