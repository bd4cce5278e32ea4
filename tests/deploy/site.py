"""A cluster with the manifests in it, and what an operator gives them."""

import asyncio
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from recorder.facts.metrics import METRICS
from recorder.keeping.tokens import TokenFile
from tests.cluster.certificates import Authority
from tests.cluster.cluster import Cluster
from tests.cluster.waiting import until
from tests.deploy.chart import helm, objects
from tests.deploy.pod import Container, Node, pod_of
from tests.deploy.rootfs import DOOR, RootFs

__all__ = [
    "INSTALLED_SECONDS",
    "Site",
    "door_secrets",
    "get",
    "probed",
    "signing_key",
]

INSTALLED_SECONDS = 60
"""From the manifests to the first committed entry."""


class Site:
    """A cluster and what is installed in it."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.manifests: list[dict[str, Any]] = []
        self.token = ""
        """Of the API."""

    def of(self, kind: str, name: str) -> dict[str, Any]:
        """Return the Pods of an object of the manifests."""
        (found,) = [
            each
            for each in self.manifests
            if (each["kind"], each["metadata"]["name"]) == (kind, name)
        ]
        return pod_of(found)

    async def apply(self, path: Path) -> None:
        """Apply manifests, as their reader does."""
        text = await asyncio.to_thread(path.read_text)
        self.manifests += objects(text)
        await self.cluster.kubectl("apply", "-f", str(path))

    async def helm(self, *arguments: str) -> str:
        """Run Helm as the administrator; return what it printed.

        The manifests are then those of the API server.

        Raises:
            HelmError: it refused.
        """
        said = await asyncio.to_thread(
            helm, *arguments, f"--kubeconfig={self.cluster.kubeconfig}"
        )
        found = await self.cluster.kubectl(
            "get", "deployment,cronjob", "-o", "json", "-n", "recorder"
        )
        self.manifests = yaml.safe_load(found)["items"]
        return said

    async def node(
        self,
        rootfs: RootFs,
        folder: Path,
        held: Mapping[str, Mapping[str, str]],
    ) -> Node:
        """Return what runs Pods, with the Secrets that an operator makes.

        ``held`` are those besides keys and tokens.
        """
        tokens = TokenFile(folder.with_name("tokens"))
        self.token = tokens.add("grafana")
        made = {
            **held,
            "recorder-keys": {
                "redaction.key": secrets.token_hex(32),
                "signing.key": signing_key(),
            },
            "recorder-tokens": {
                "tokens": folder.with_name("tokens").read_text()
            },
        }
        kubeconfig = await self.cluster.service_account("recorder", "recorder")
        content = yaml.safe_load(kubeconfig.read_text())
        user = content["users"][0]["user"]
        url = urlsplit(content["clusters"][0]["cluster"]["server"])
        authority = self.cluster.authority.certificate.read_text()
        assert url.hostname is not None
        assert url.port is not None
        return Node(
            rootfs,
            folder,
            secrets=made,
            api_server=(url.hostname, url.port),
            token={
                "token": user["token"],
                "ca.crt": authority,
                "namespace": "recorder",
            },
            free_port=self.cluster.ports.take,
        )


def door_secrets(folder: Path) -> dict[str, dict[str, str]]:
    """Make what an operator makes for the door, and for what measures."""
    authority, senders = Authority(folder), TokenFile(folder / "senders")
    pair = authority.server(DOOR)
    token = senders.add("measure", claims=("recorder/metrics", METRICS))
    return {
        "recorder-measure": {
            "metrics.yaml": "url: http://127.0.0.1:9\n",
            "token": token,
            "ca.crt": authority.certificate.read_text(),
        },
        "recorder-door": {
            "tls.crt": pair.certificate.read_text(),
            "tls.key": pair.key.read_text(),
            "senders": (folder / "senders").read_text(),
        },
    }


def signing_key() -> str:
    """Make the key that an operator makes with openssl."""
    return (
        Ed25519PrivateKey.generate()
        .private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        .decode()
    )


async def get(
    container: Container, port: str, path: str, **headers: str
) -> tuple[int, str]:
    url = f"http://127.0.0.1:{container.ports[port]}{path}"
    async with (
        aiohttp.ClientSession() as session,
        session.get(url, headers=headers) as answer,
    ):
        return answer.status, await answer.text()


async def probed(container: Container, pod: dict[str, Any]) -> None:
    """Wait until a Pod is ready, by its own probe."""
    (spec,) = pod["containers"]
    probe = spec["readinessProbe"]["httpGet"]

    async def ready() -> bool:
        assert container.process.returncode is None, await said(container)
        try:
            status, _ = await get(container, probe["port"], probe["path"])
        except aiohttp.ClientConnectionError:
            return False
        return status == 200

    await until(ready, "the Pod is ready", seconds=INSTALLED_SECONDS)


async def said(container: Container) -> str:
    await container.ended()
    return container.said
