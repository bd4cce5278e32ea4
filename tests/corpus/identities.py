"""Names and identities that are the same whenever an incident is made."""

import uuid
from typing import Any

from tests.cluster.machines import MachineSpec

__all__ = ["ALICE", "RACK", "boot_id", "machine_identity", "machines"]

ALICE = "alice@example.com"

RACK = "example.com/rack"

_NAMES = uuid.uuid5(uuid.NAMESPACE_DNS, "corpus.recorder.test")


def boot_id(incident: str, node: str, number: int) -> str:
    """Return the boot id of a node's boot, the first being 1."""
    return str(uuid.uuid5(_NAMES, f"{incident}/{node}/boot/{number}"))


def machine_identity(incident: str, machine: str) -> uuid.UUID:
    """Return what machine id and system UUID of a machine are made from."""
    return uuid.uuid5(_NAMES, f"{incident}/{machine}")


def machines(
    incident: str, count: int, *, racks: int = 1, **facts: Any
) -> tuple[MachineSpec, ...]:
    """Return machines gpu-001 and so on, spread over racks."""
    specs = []
    for number in range(1, count + 1):
        name = f"gpu-{number:03}"
        identity = machine_identity(incident, name)
        labels = {
            "topology.kubernetes.io/zone": "zone-a",
            RACK: f"rack-{(number - 1) % racks + 1}",
            "node.kubernetes.io/instance-type": "gpu-8x",
        }
        spec = MachineSpec(
            name=name,
            boot_id=boot_id(incident, name, 1),
            machine_id=identity.hex,
            system_uuid=str(identity),
            labels=labels,
            status_every="3s",
            **facts,
        )
        specs.append(spec)
    return tuple(specs)
