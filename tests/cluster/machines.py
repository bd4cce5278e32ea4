"""Machines: each a real kubelet over a container runtime that runs nothing.

A machine can crash, boot, hang, lose GPUs, and its pods can fail. The kubelet
and the runtime are two processes, as they are in life: containers survive
their kubelet and end with their machine. What the hardware and the kernel say
of themselves is the test's choice.
"""

import shutil
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.processes import Part
from tests.cluster.waiting import until

__all__ = ["Machine", "MachineSpec", "gpu_machines"]

FOLDER_PATH_MAX = 70
"""A socket's path has 107 bytes; a test's folder may be longer than that, and
the kubelet makes sockets of its own below."""

ORDER_SECONDS = 30


def _identifier() -> str:
    return str(uuid.uuid4())


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSpec:
    """What a machine is, as its Node will show."""

    name: str
    boot_id: str = field(default_factory=_identifier)
    machine_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    system_uuid: str = field(default_factory=_identifier)
    provider_id: str = ""
    """Empty for the kubelet's own ``kubemark://NAME``."""

    kernel_version: str = "6.8.0-79-generic"
    os_image: str = "Ubuntu 24.04.3 LTS"
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[str, ...] = ()
    """``KEY=VALUE:EFFECT``, only when the Node is registered."""

    gpus: int = 8
    """``nvidia.com/gpu``; -1 for a machine without a device plugin."""

    cores: int = 128
    memory_gib: int = 2048
    reserved: Mapping[str, str] = field(default_factory=dict)
    """By how much allocatable is less than capacity, ``cpu: "2"``."""

    max_pods: int = 110
    status_every: str = "10s"
    """How often the kubelet looks at the machine, its GPUs included."""

    events: bool = True
    """Without, the kubelet's Events are not delivered."""


def gpu_machines(count: int, *, racks: int = 1) -> tuple[MachineSpec, ...]:
    """Return machines gpu-001, gpu-002 and so on, spread over racks."""
    return tuple(
        MachineSpec(
            name=f"gpu-{number:03}",
            labels={
                "topology.kubernetes.io/zone": "zone-a",
                "example.com/rack": f"rack-{(number - 1) % racks + 1}",
                "node.kubernetes.io/instance-type": "gpu-8x",
            },
        )
        for number in range(1, count + 1)
    )


class Machine:
    """A machine that is off until it boots."""

    def __init__(
        self,
        spec: MachineSpec,
        *,
        binary: Path,
        folder: Path,
        kubeconfig: Path,
        port: int,
    ) -> None:
        self.name = spec.name
        self.spec = spec
        self.boot_id = spec.boot_id
        self._run = folder / "run"
        if len(str(self._run)) > FOLDER_PATH_MAX:
            self._run = Path(tempfile.mkdtemp(prefix="recorder-machine."))
        self._socket = self._run / "cri.sock"
        self._root = self._run / "kubelet"
        self._control = self._run / "control"
        self._control.mkdir(parents=True)
        endpoint = f"unix://{self._socket}"
        self.runtime = Part(
            "cri",
            [str(binary), "cri"],
            {
                "endpoint": endpoint,
                "state": str(self._run / "containers.json"),
                "control": str(self._control),
            },
            folder=folder,
            ready=self._runtime_ready,
        )
        self.kubelet = Part(
            "kubelet",
            [str(binary), "kubelet"],
            {
                **_kubelet_flags(spec),
                "kubeconfig": str(kubeconfig),
                "port": str(port),
                "cri": endpoint,
                "root": str(self._root),
                "control": str(self._control),
            },
            folder=folder,
        )

    async def boot(self, boot_id: str | None = None) -> str:
        """Start a machine that is off; return its new boot id.

        The first boot has the boot id of the spec, every later one another,
        unless it is given. No container survives another boot id.
        """
        if boot_id is None and self.kubelet.log.exists():
            boot_id = _identifier()
        self.boot_id = boot_id or self.boot_id
        # One that a crash left behind would look like a runtime that listens.
        self._socket.unlink(missing_ok=True)
        await self.runtime.start(boot_id=self.boot_id)
        await self._start_kubelet(boot_id=self.boot_id)
        return self.boot_id

    async def crash(self) -> None:
        """Lose power: no process can report anything."""
        await self.kubelet.kill()
        await self.runtime.kill()

    async def restart_kubelet(self, **flags: str | None) -> None:
        """Kill the kubelet and start it; the containers go on."""
        await self.kubelet.kill()
        await self._start_kubelet(**flags)

    def hang(self) -> None:
        """Stop the kubelet where it is: a hang, or a partition."""
        self.kubelet.pause()

    def resume(self) -> None:
        """End a `hang`."""
        self.kubelet.resume()

    async def fail_pod(
        self, namespace: str, name: str, code: int = 1, reason: str = "Error"
    ) -> None:
        """End the containers of a pod; waits until they run, and ended."""
        order = self._control / f"exit-{namespace}_{name}"
        unfinished = self._control / f".exit-{namespace}_{name}"
        unfinished.write_text(f"{code} {reason}\n")
        unfinished.rename(order)
        await until(
            lambda: not order.exists(),
            f"the containers of {namespace}/{name} on {self.name} ended",
            seconds=ORDER_SECONDS,
        )

    async def finish_pod(self, namespace: str, name: str) -> None:
        """End the containers of a pod well."""
        await self.fail_pod(namespace, name, 0, "Completed")

    def set_healthy_gpus(self, count: int) -> None:
        """Let the device plugin call only so many GPUs healthy.

        The Node shows it after at most ``status_every``.
        """
        (self._control / "gpu-allocatable").write_text(f"{count}\n")

    def parts(self) -> tuple[Part, ...]:
        """Both processes, in the order in which they may end."""
        return self.kubelet, self.runtime

    def clean_up(self) -> None:
        """Kill both processes and remove everything but their logs."""
        for part in self.parts():
            part.kill_now()
        shutil.rmtree(self._run, ignore_errors=True)

    async def _start_kubelet(self, **flags: str | None) -> None:
        # The pods' volumes; a fake mounter forgets what it mounted there.
        shutil.rmtree(self._root, ignore_errors=True)
        await self.kubelet.start(**flags)

    async def _runtime_ready(self) -> bool:
        return self._socket.exists()


def _kubelet_flags(spec: MachineSpec) -> dict[str, str]:
    return {
        "node": spec.name,
        "boot-id": spec.boot_id,
        "machine-id": spec.machine_id,
        "system-uuid": spec.system_uuid,
        "provider-id": spec.provider_id,
        "kernel-version": spec.kernel_version,
        "os-image": spec.os_image,
        "labels": _pairs(spec.labels),
        "taints": ",".join(spec.taints),
        "gpus": str(spec.gpus),
        "cores": str(spec.cores),
        "memory-gib": str(spec.memory_gib),
        "reserved": _pairs(spec.reserved),
        "max-pods": str(spec.max_pods),
        "status-every": spec.status_every,
        "no-events": str(not spec.events).lower(),
    }


def _pairs(values: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in values.items())
