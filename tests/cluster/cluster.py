"""A whole Kubernetes on 127.0.0.1, for as long as an ``async with`` lasts.

It puts the parts together and in order. Several clusters run side by side,
and nothing of one outlives its block but its logs.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from tests.cluster.binaries import built
from tests.cluster.controlplane import ControlPlane, Options
from tests.cluster.machines import Machine, MachineSpec
from tests.cluster.oracle import Oracle
from tests.cluster.ports import Ports
from tests.cluster.processes import PartFailedError, leash
from tests.cluster.waiting import EVERY_SECONDS, until

__all__ = ["Cluster", "KubectlError"]

KUBECTL_SECONDS = 120

NODE_SECONDS = 60


class KubectlError(Exception):
    """A kubectl command failed; the message is what it said."""


class Cluster(ControlPlane):
    """A running cluster. Make one with `Cluster.start`."""

    def __init__(
        self, folder: Path, options: Options, ports: Ports, binary: Path
    ) -> None:
        super().__init__(binary, folder, options, ports)
        self.options = options
        self.machines: dict[str, Machine] = {}
        self._oracle = (
            Oracle(self.etcd_client) if options.json_storage else None
        )

    @classmethod
    @asynccontextmanager
    async def start(
        cls, folder: Path, options: Options | None = None
    ) -> AsyncIterator["Cluster"]:
        """Start a cluster in an empty folder, and end it with the block.

        When this yields, every machine's Node is Ready and pods can be made.

        Raises:
            PartFailedError: A part did not start; has its last log lines.
        """
        options = options or Options()
        async with AsyncExitStack() as stack:
            ports = Ports()
            stack.callback(ports.give_back)
            cluster = cls(folder, options, ports, built())
            stack.push_async_callback(cluster._end)
            await cluster.etcd.start()
            if cluster._oracle is not None:
                # From before the API server's first write.
                await stack.enter_async_context(cluster._oracle)
            await cluster.api_server.start()
            await cluster._start_controllers()
            async with asyncio.TaskGroup() as group:
                for spec in options.machines:
                    group.create_task(cluster._power_on(spec))
            await cluster._until_usable()
            yield cluster

    @property
    def oracle(self) -> Oracle:
        """What etcd's history says."""
        assert self._oracle is not None, "protobuf in etcd: no oracle"
        return self._oracle

    async def add_machine(self, spec: MachineSpec) -> Machine:
        """Power a machine on and wait until its Node is Ready."""
        machine = await self._power_on(spec)
        await self.until_ready(spec.name)
        return machine

    async def until_ready(
        self, *nodes: str, seconds: float = NODE_SECONDS
    ) -> None:
        """Wait until nodes are Ready and without the lifecycle's taints."""
        missing = set(nodes)

        async def all_ready() -> bool:
            listed = await self.api.get("/api/v1/nodes")
            missing.difference_update(
                node["metadata"]["name"]
                for node in listed["items"]
                if _is_ready(node)
            )
            return not missing

        try:
            await until(
                all_ready,
                "all nodes are ready",
                seconds=seconds,
                # Thousands of nodes are megabytes in every answer.
                every=max(EVERY_SECONDS, len(nodes) / 1000),
            )
        except TimeoutError as error:
            first = sorted(missing)[:3]
            words = [
                f"{name}: {self.machines[name].kubelet.last_words(5)}"
                for name in first
                if name in self.machines
            ]
            names = ", ".join(first)
            message = f"{error}; {len(missing)} are not, first {names}"
            raise PartFailedError("\n".join([message, *words])) from None

    def user(self, name: str, groups: Sequence[str] = ()) -> Path:
        """Make a user and return the path of its kubeconfig."""
        pair = self.authority.client(name, groups)
        return self.kubeconfig_for(pair, name.replace("/", "_"))

    async def service_account(
        self, namespace: str, name: str, *, seconds: int = 3600
    ) -> Path:
        """Make a kubeconfig with a token of a service account that exists."""
        answer = await self.api.create(
            f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {"expirationSeconds": seconds},
            },
        )
        return self.kubeconfig_for(
            str(answer["status"]["token"]), f"{namespace}_{name}"
        )

    async def kubectl(
        self, *arguments: str, stdin: str = "", kubeconfig: Path | None = None
    ) -> str:
        """Run kubectl, as admin unless another is named; return its output.

        Raises:
            KubectlError: It failed, or did not end in time.
        """
        process = await asyncio.create_subprocess_exec(
            str(self.binary),
            "kubectl",
            f"--kubeconfig={kubeconfig or self.kubeconfig}",
            f"--cache-dir={self.folder / 'kubectl-cache'}",
            *arguments,
            env=leash(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        said = "kubectl " + " ".join(arguments)
        try:
            async with asyncio.timeout(KUBECTL_SECONDS):
                out, err = await process.communicate(stdin.encode())
        except TimeoutError:
            process.kill()
            await process.wait()
            message = f"{said}: no end in {KUBECTL_SECONDS} s"
            raise KubectlError(message) from None
        if process.returncode != 0:
            message = f"{said}: {err.decode().strip()}"
            raise KubectlError(message)
        return out.decode()

    async def compact(self) -> int:
        """Compact etcd up to now; return the revision."""
        revision = await self.etcd_client.revision()
        await self.etcd_client.compact(revision)
        return revision

    async def snapshot(self, path: Path) -> None:
        """Write a snapshot of etcd."""
        await self.etcd_client.snapshot(path)

    async def restore(
        self, path: Path, *, bump: int = 0, restart_clients: bool = True
    ) -> None:
        """Put etcd back to a snapshot: the history is rewound.

        ``bump`` makes the revisions jump ahead instead. The controllers and
        kubelets know versions that never were now, and are killed and
        started, as etcd's manual says, unless another is named.
        """
        await self.api_server.kill()
        if self._oracle is not None:
            await self._oracle.end_epoch()
        await self.etcd.kill()
        await self._restore_data(path, bump)
        await self.etcd.start()
        if self._oracle is not None:
            await self._oracle.begin_epoch()
        await self.api_server.start()
        if not restart_clients:
            return
        for part in (self.controller_manager, self.scheduler):
            if part.pid is not None:
                await part.restart()
        for machine in self.machines.values():
            if machine.kubelet.pid is not None:
                await machine.restart_kubelet()

    async def _restore_data(self, path: Path, bump: int) -> None:
        data = self.etcd.flags["data-dir"]
        assert data is not None
        shutil.rmtree(data)
        bumped = [f"--bump-revision={bump}", "--mark-compacted"]
        process = await asyncio.create_subprocess_exec(
            str(self.binary),
            "etcdutl",
            "snapshot",
            "restore",
            str(path),
            f"--data-dir={data}",
            f"--initial-cluster=default={self.peer_url}",
            f"--initial-advertise-peer-urls={self.peer_url}",
            *(bumped if bump else []),
            env=leash(),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        _, err = await process.communicate()
        if process.returncode != 0:
            message = f"cannot restore {path}: {err.decode()}"
            raise PartFailedError(message)

    async def _start_controllers(self) -> None:
        if self.options.controller_manager:
            await self.controller_manager.start()
        if self.options.scheduler:
            await self.scheduler.start()

    async def _power_on(self, spec: MachineSpec) -> Machine:
        user = self.authority.client(
            f"system:node:{spec.name}", ["system:nodes"]
        )
        machine = Machine(
            spec,
            binary=self.binary,
            folder=self.folder / "machines" / spec.name,
            kubeconfig=self.kubeconfig_for(user, f"node-{spec.name}"),
            port=self.ports.take(),
        )
        self.machines[spec.name] = machine
        await machine.boot()
        return machine

    async def _until_usable(self) -> None:
        await self.until_ready(*self.machines)
        if self.options.controller_manager:
            await until(
                lambda: self.api.answers(
                    "/api/v1/namespaces/default/serviceaccounts/default"
                ),
                "the controller manager made a service account",
                seconds=NODE_SECONDS,
            )

    async def _end(self) -> None:
        """Kill everything and keep only logs and certificates."""
        for machine in self.machines.values():
            machine.clean_up()
        await self.close()
        for leftover in (self.etcd.flags["data-dir"], "kubectl-cache"):
            assert leftover is not None
            shutil.rmtree(self.folder / leftover, ignore_errors=True)


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = node.get("status", {}).get("conditions", ())
    ready = any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in conditions
    )
    return ready and not any(
        taint["key"].startswith("node.kubernetes.io/")
        and taint["key"] != "node.kubernetes.io/unschedulable"
        for taint in node["spec"].get("taints", ())
    )
