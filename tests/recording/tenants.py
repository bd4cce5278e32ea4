"""A recorded cluster that two tenants share, and its API.

Its machine reboots under a Job of each.
"""

import asyncio
import base64
import json
import ssl
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

from recorder.facts.deriver import state_of
from recorder.keeping.tokens import TokenFile
from recorder.model.entry import Draft
from recorder.model.settings import Settings
from recorder.wiring.serving import serving
from tests.api.serving import Client, Reply
from tests.claims.posting import an_event, post
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.machines import gpu_machines
from tests.cluster.waiting import until
from tests.support.postgres import Database
from tests.support.recorded import RBAC, Recorded

SERVE = RBAC.with_name("rbac-serve.yaml")
NODE = "gpu-001"
READERS = ("tenant", "fleet", "lister", "stranger")

MINE, OTHERS = "red-tenant", "blue-tenant"
"""Namespaces; everything in them has the name in its own."""

AUDIENCE = "recorder"
OF_NODE = "said-of-node"
CLAIMS = {
    OF_NODE: ("note", f"node/{NODE}", {}),
    "said-of-leaf": ("note", "switch/leaf-7", {}),
    "said-of-slurm": (
        "slurm.node", f"node/{NODE}",
        {"cluster": "c", "name": NODE, "act": "drain", "reason": "x"},
    ),
}  # fmt: skip
"""Words of claims, and what they are in."""

SLICES = [
    f"resource.k8s.io/{version}/resourceslices"
    for version in ("v1", "v1beta1")
]

SECRET = "withheld"
"""The name of a Secret of the own namespace."""

RBAC_API = "/apis/rbac.authorization.k8s.io/v1"


def a_job(namespace: str) -> dict[str, Any]:
    container = {
        "name": namespace,
        "image": f"registry.example/{namespace}:1",
        "command": ["sleep 600"],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"{namespace}-job"},
        "spec": {
            "template": {
                "spec": {"restartPolicy": "Never", "containers": [container]}
            }
        },
    }


def a_binding(name: str, namespace: str | None) -> dict[str, Any]:
    """Return what lets a service account view a namespace, or all of them."""
    kind = "ClusterRoleBinding" if namespace is None else "RoleBinding"
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "view" if namespace else "cluster-reader",
        },
        "subjects": [
            {"kind": "ServiceAccount", "name": name, "namespace": "default"}
        ],
    }


@dataclass
class World:
    """A recorded cluster, and its API."""

    cluster: Cluster
    client: Client
    tokens: dict[str, str]

    def headers(self, who: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[who]}"}

    async def ask(self, who: str, query: str, **more: str) -> Reply:
        return await self.client.post(
            {"query": query}, headers={**self.headers(who), **more}
        )

    async def token(self, who: str, **spec: Any) -> str:
        answer = await self.cluster.api.create(
            f"/api/v1/namespaces/default/serviceaccounts/{who}/token",
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": spec,
            },
        )
        return str(answer["status"]["token"])


class Door:
    """Where other systems post what they know."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        server = cluster.authority.server()
        self._address = f"https://127.0.0.1:{cluster.ports.take()}"
        self._tokens = folder / "senders"
        self._ca = cluster.authority.certificate
        self._token = TokenFile(self._tokens).add("all", claims=("*", "*"))
        self.settings = {
            "audit_listen": self._address.removeprefix("https://"),
            "audit_certificate": str(server.certificate),
            "audit_key": str(server.key),
            "ingest_token_file": str(self._tokens),
        }

    async def claim(self) -> None:
        """Post the claims."""
        events = [
            an_event(
                number,
                type=kind,
                subject=subject,
                time=datetime.now(UTC).isoformat(),
                data={**data, "text": text},
            )
            for number, (text, (kind, subject, data)) in enumerate(
                CLAIMS.items()
            )
        ]
        context = ssl.create_default_context(cafile=str(self._ca))
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=context)
        ) as session:
            status, says = await post(
                session, self._address, self._token, events
            )
        assert status == 202, says


@asynccontextmanager
async def a_world(folder: Path, database: Database) -> AsyncIterator[World]:
    """Record a machine that reboots under two tenants, and serve that."""
    options = Options(
        machines=gpu_machines(1),
        api_server_flags={"runtime_config": "resource.k8s.io/v1beta1=true"},
    )
    async with (
        Cluster.start(folder / "cluster", options) as cluster,
        aiohttp.ClientSession() as session,
    ):
        recorded = Recorded(cluster, database, folder)
        door = Door(cluster, folder)
        await recorded.grant()
        await grant_more(cluster)
        await recorded.start(include="secrets", **door.settings)
        await recorded.until_listed()
        await recorded.until_listed("v1/secrets", SLICES[0])
        await make_tenants(cluster)
        await door.claim()
        await check_slices_are_read_in_each_form(cluster)
        await cluster.machines[NODE].crash()
        await cluster.machines[NODE].boot()
        await cluster.until_ready(NODE)
        await recorded.until_entries(rebooted, "the reboot is recorded")
        await cluster.kubectl("apply", "-f", str(SERVE))
        kubeconfig = await cluster.service_account(
            "recorder", "recorder-serve"
        )
        settings = Settings(
            database_url=database.dsn("reader"),
            data_dir=folder,
            kubeconfig=str(kubeconfig),
            serve_listen="127.0.0.1:0",
            serve_kubernetes=True,
        )
        async with serving(settings, asyncio.Event()) as address:
            world = World(cluster, Client(address, session), {})
            for who in READERS:
                world.tokens[who] = await world.token(
                    who, audiences=[AUDIENCE]
                )
            yield world
        await recorded.stop()


async def grant_more(cluster: Cluster) -> None:
    """Let the recorder read what it does not by default."""
    await cluster.kubectl(
        "create", "clusterrole", "more", "--verb=get,list,watch",
        "--resource=secrets",
    )  # fmt: skip
    await cluster.kubectl(
        "create", "clusterrolebinding", "more", "--clusterrole=more",
        "--serviceaccount=recorder:recorder",
    )  # fmt: skip


async def check_slices_are_read_in_each_form(cluster: Cluster) -> None:
    """Publish a slice; each version of the API says the same of it."""
    await cluster.api.create(
        f"/apis/{SLICES[0]}",
        {
            "metadata": {"name": "nics"},
            "spec": {
                "driver": "coreweave.dra.net",
                "nodeName": NODE,
                "pool": {
                    "name": "p", "generation": 1, "resourceSliceCount": 1,
                },
                "devices": [
                    {
                        "name": "mlx5-0",
                        "attributes": {"leafSwitch": {"string": "leaf-8"}},
                    }
                ],
            },
        },
    )  # fmt: skip
    fields = []
    for path in SLICES:
        found = await cluster.api.get(f"/apis/{path}/nics")
        state = state_of(orjson.dumps(found), path)
        assert state is not None
        fields.append(state.fields)
    leaf = "device/mlx5-0/coreweave.dra.net/leafSwitch"
    assert fields == [{leaf: "leaf-8"}] * 2


async def make_tenants(cluster: Cluster) -> None:
    """Run a Job for each tenant; make readers of one, of all, of nothing."""
    for who in READERS:
        await cluster.kubectl("create", "serviceaccount", who)
    for namespace in (MINE, OTHERS):
        await cluster.kubectl("create", "namespace", namespace)
        await cluster.api.create(
            f"/apis/batch/v1/namespaces/{namespace}/jobs", a_job(namespace)
        )
    # The role `view` may get everything of a namespace but these.
    await cluster.kubectl("create", "secret", "generic", SECRET, "-n", MINE)
    await cluster.kubectl(
        "create", "clusterrole", "cluster-reader", "--verb=get",
        "--resource=*.*",
    )  # fmt: skip
    await cluster.kubectl(
        "create", "clusterrole", "lister", "--verb=list", "--resource=nodes"
    )
    await cluster.kubectl(
        "create", "clusterrolebinding", "list-nodes", "--clusterrole=lister",
        "--serviceaccount=default:lister",
    )  # fmt: skip
    for who in ("fleet", "lister"):
        await cluster.api.create(
            f"{RBAC_API}/clusterrolebindings", a_binding(who, None)
        )
    await cluster.api.create(
        f"{RBAC_API}/namespaces/{MINE}/rolebindings",
        a_binding("tenant", MINE),
    )

    async def running() -> bool:
        pods = await cluster.api.get("/api/v1/pods")
        phases = [
            pod["status"]["phase"]
            for pod in pods["items"]
            if pod["metadata"]["namespace"] in {MINE, OTHERS}
        ]
        return phases == ["Running"] * 2

    await until(running, "both tenants run")


def rebooted(drafts: Sequence[Draft]) -> bool:
    return any(b"has been rebooted" in draft.raw for draft in drafts)


def expired(world: World, *, lasts: int = -120, forged: bool = False) -> str:
    """Return a token of the service account `fleet`, signed here.

    As the API server signs it: no test waits ten minutes for one to expire. Of
    its end the API server takes a minute off.
    """
    given = world.tokens["fleet"].split(".")
    header = decoded(given[0])
    claims = decoded(given[1])
    now = int(time.time())
    claims |= {"exp": now + lasts, "iat": now - 600, "nbf": now - 600}
    key = world.cluster.service_account_key
    loaded = serialization.load_pem_private_key(key.read_bytes(), None)
    if forged:
        loaded = ec.generate_private_key(ec.SECP256R1())
    assert isinstance(loaded, ec.EllipticCurvePrivateKey)
    text = f"{encoded(header)}.{encoded(claims)}"
    signed = loaded.sign(text.encode(), ec.ECDSA(hashes.SHA256()))
    r, s = utils.decode_dss_signature(signed)
    signature = r.to_bytes(32) + s.to_bytes(32)
    return f"{text}.{unpadded(signature)}"


def decoded(part: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    )
    return found


def encoded(document: dict[str, Any]) -> str:
    return unpadded(json.dumps(document).encode())


def unpadded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
