"""A Pod of the manifests as processes of this machine.

Each container gets the user, the file system, the environment, the mounted
Secrets and tokens, and the command that its Pod names, as a kubelet and a
container engine would give them; only the port that it listens on is another,
because all of them share the network of the machine.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.deploy.containerfile import Image
from tests.deploy.rootfs import RootFs

__all__ = ["Container", "Node", "pod_of"]

TOKENS = "/var/run/secrets/kubernetes.io/serviceaccount"
STOP_SECONDS = 15


def pod_of(workload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec of the Pods of a Deployment, Job or CronJob."""
    spec: dict[str, Any] = dict(workload["spec"])
    if "jobTemplate" in spec:
        spec = spec["jobTemplate"]["spec"]
    found: dict[str, Any] = spec["template"]["spec"]
    return found


class Container:
    """A process that runs."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        ports: Mapping[str, int],
        command: Callable[[Sequence[str]], list[str]],
    ) -> None:
        self.process = process
        self._command = command
        self.ports = ports
        """By name, where it listens on 127.0.0.1."""
        self.said = ""

    async def exec(self, *words: str) -> tuple[int, str, str]:
        """Run a command in it, as `kubectl exec` does.

        Return its exit status, and what it printed to each stream.
        """
        process = await asyncio.create_subprocess_exec(
            *self._command(words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = await process.communicate()
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()

    async def ended(self) -> int:
        """Wait for its end; return its exit status."""
        _, said = await self.process.communicate()
        self.said += said.decode()
        assert self.process.returncode is not None
        return self.process.returncode

    async def stop(self) -> int:
        """SIGTERM it, as a kubelet does; return its exit status."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(STOP_SECONDS):
            return await self.ended()


class Node:
    """Runs containers of Pods."""

    def __init__(
        self,
        rootfs: RootFs,
        folder: Path,
        *,
        secrets: Mapping[str, Mapping[str, str]],
        api_server: tuple[str, int],
        token: Mapping[str, str],
        free_port: Any,
    ) -> None:
        """Take what a kubelet would ask the API server for.

        Args:
            rootfs: of the image.
            folder: for volumes.
            secrets: by name and key.
            api_server: what services show every Pod.
            token: the files of the projected volume of a service account.
            free_port: returns an unused port.
        """
        self._rootfs = rootfs
        self._folder = folder
        self._secrets = secrets
        self._api_server = api_server
        self._token = token
        self._free_port = free_port
        self._image = Image.read()
        self._started = 0

    @asynccontextmanager
    async def running(
        self, pod: Mapping[str, Any]
    ) -> AsyncIterator[Container]:
        """Run the only container of a Pod while entered."""
        (container,) = pod["containers"]
        ports = {
            port["name"]: (port["containerPort"], self._free_port())
            for port in container.get("ports", ())
        }
        security = pod["securityContext"]
        user = f"{security['runAsUser']}:{security['runAsGroup']}"
        assert user == self._image.user, "the image has no other"
        self._started += 1
        folder = self._folder / f"pod-{self._started}"
        words = [
            *container.get("command", self._image.entrypoint),
            *container.get("args", self._image.command),
        ]
        command = partial(
            self._rootfs.command,
            user=user,
            environment=self._environment(container, ports),
            mounts=self._mounts(pod, container, folder),
        )
        process = await asyncio.create_subprocess_exec(
            *command(words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            listens = {name: port for name, (_, port) in ports.items()}
            yield Container(process, listens, command)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    def _environment(
        self,
        container: Mapping[str, Any],
        ports: Mapping[str, tuple[int, int]],
    ) -> dict[str, str]:
        host, port = self._api_server
        made = {
            **self._image.environment,
            "KUBERNETES_SERVICE_HOST": host,
            "KUBERNETES_SERVICE_PORT": str(port),
            "HOSTNAME": container["name"],
        }
        for each in container.get("env", ()):
            made[each["name"]] = self._value(each)
        for name, value in made.items():
            for ours, free in ports.values():
                if value == f"0.0.0.0:{ours}":
                    made[name] = f"127.0.0.1:{free}"
                elif value.endswith(f".svc:{ours}"):
                    made[name] = value.replace(f":{ours}", f":{free}")
        return made

    def _value(self, variable: Mapping[str, Any]) -> str:
        if "value" in variable:
            value: str = variable["value"]
            return value
        of = variable["valueFrom"]["secretKeyRef"]
        return self._secrets[of["name"]][of["key"]]

    def _mounts(
        self,
        pod: Mapping[str, Any],
        container: Mapping[str, Any],
        folder: Path,
    ) -> dict[str, tuple[Path, bool]]:
        group = pod["securityContext"]["fsGroup"]
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        mounts = {}
        for mount in container["volumeMounts"]:
            volume = volumes[mount["name"]]
            place = folder / mount["name"]
            if claim := volume.get("persistentVolumeClaim"):
                # Outlives the Pod.
                place = self._folder / claim["claimName"]
            place.mkdir(parents=True, exist_ok=True)
            self._fill(place, volume, group)
            writable = not mount.get("readOnly", False)
            mounts[mount["mountPath"]] = (place, writable)
        if pod.get("automountServiceAccountToken", True):
            place = folder / "token"
            place.mkdir(parents=True)
            for name, text in self._token.items():
                (place / name).write_text(text)
            mounts[TOKENS] = (place, False)
        return mounts

    def _fill(
        self, place: Path, volume: Mapping[str, Any], group: int
    ) -> None:
        os.chown(place, 0, group)
        if "secret" not in volume:
            place.chmod(0o2777)
            return
        place.chmod(0o755)
        secret = volume["secret"]
        held = self._secrets[secret["secretName"]]
        paths = {
            item["key"]: item["path"]
            for item in secret.get(
                "items", [{"key": k, "path": k} for k in held]
            )
        }
        for key, path in paths.items():
            (place / path).write_text(held[key])
            os.chown(place / path, 0, group)
            (place / path).chmod(secret["defaultMode"])
