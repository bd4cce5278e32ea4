"""Who may read what, as a real API server decides.

Two tenants share a machine that reboots. A reader of the history of one may
find nothing of the other, in any field.
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
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

from api.http import streaming
from api.resolvers import reviewing
from recorder.facts.deriver import state_of
from recorder.keeping.tokens import TokenFile
from recorder.model.entry import Draft
from recorder.model.settings import Settings
from recorder.wiring.serving import serving
from tests.api.listening import listening
from tests.api.serving import Client, Reply
from tests.api.test_agents import over_http
from tests.api.walking import walk
from tests.claims.posting import an_event, post
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.machines import gpu_machines
from tests.cluster.waiting import until
from tests.support.postgres import Database
from tests.support.recorded import RBAC, Recorded

pytestmark = pytest.mark.timeout(180)

SERVE = RBAC.with_name("rbac-serve.yaml")
NODE = "gpu-001"
READERS = ("tenant", "fleet", "lister", "stranger")
MINE, OTHERS = "red-tenant", "blue-tenant"
"""Namespaces; everything in them has the name in its own."""

OF_A_NODE = "kubeProxyVersion"
"""A field that only the documents of Nodes have."""

AUDIENCE = "recorder"
JOB = "job"
QUERY = '{ why(node: "gpu-001") { verdicts { sentence } } }'
FOLLOW = "subscription { facts { facts { object { namespace name } } } }"


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


AGENTS: dict[str, dict[str, Any]] = {
    "impact": {"nodes": [NODE]},
    "incidents": {},
    "jobs": {},
    "objects": {"kind": "pods"},
}
"""Tools for agents that name workloads."""

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

ABOUT_LEAF = {"place.name": '"switch/leaf-7"', "subject": '"switch/leaf-7"'}
"""Arguments about a place that is no Node."""

SLICES = [
    f"resource.k8s.io/{version}/resourceslices"
    for version in ("v1", "v1beta1")
]

SECRET = "withheld"
"""The name of a Secret of the own namespace."""

RBAC_API = "/apis/rbac.authorization.k8s.io/v1"


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


def arguments(namespace: str) -> dict[str, str]:
    """Return values for every argument of the schema, about a tenant."""
    job = f'"job/{namespace}/{namespace}-job"'
    return {
        "node": f'"{NODE}"',
        "nodes": f'["{NODE}"]',
        "object.name": job,
        "workload.name": job,
        "whyWorkload.name": job,
        "node.name": f'"{NODE}"',
        "place.name": f'"node/{NODE}"',
        "objects.kind": '"pods"',
        "text": '"tenant"',
        "since": '"1h"',
        "from": '"1h"',
        "to": '"now"',
        "subject": f'"node/{NODE}"',
        "last": "500",
    }


async def exported(world: World, who: str, parameters: str) -> str:
    reply = await world.client.request(
        "GET",
        f"export.ndjson?since=1h&{parameters}",
        headers=world.headers(who),
    )
    assert reply.status == 200
    return reply.body.decode()


async def walked(world: World, who: str, namespace: str) -> dict[str, str]:
    """Query every field; return the answers by root field."""
    given = arguments(namespace)
    found = await world.ask(who, "{ incidents { nodes { id } } }")
    ids = found.json["data"]["incidents"]["nodes"]
    given["incident.id"] = json.dumps(ids[0]["id"])
    entries = await world.ask("fleet", "{ entries { nodes { name says } } }")
    nodes = entries.json["data"]["entries"]["nodes"]
    given["entry.name"] = json.dumps(
        next(one["name"] for one in nodes if namespace in one["says"])
    )
    answers = {}
    for name, query in walk(given):
        reply = await world.ask(who, query)
        assert reply.status == 200, (name, reply.body[:500])
        answers[name] = reply.body.decode()
    for parameters in ("facts=1", "raw=1"):
        answers[f"export.ndjson?since=1h&{parameters}"] = await exported(
            world, who, parameters
        )
    async with over_http(
        world.client.address, token=world.tokens[who]
    ) as agent:
        for tool, asked in AGENTS.items():
            answer = await agent.call_tool(tool, asked)
            assert not answer.is_error, answer.content
            answers[f"mcp {tool}"] = str(answer.content)
    return answers


async def test_the_api_server_decides_who_reads_what(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviewing, "YES_SECONDS", 1.0)
    monkeypatch.setattr(reviewing, "NO_SECONDS", 0.0)
    async with a_world(tmp_path, database) as world:
        await check_a_reader_of_all_sees_both(world)
        await check_nothing_of_another_tenant_is_shown(world)
        await check_who_sees_claims(world)
        await check_a_device_says_what_its_node_is_behind(world)
        await check_who_is_refused(world)
        await check_a_stream_shows_what_its_reader_may_see(world)
        await check_what_is_revoked_is_refused(world)


async def check_a_reader_of_all_sees_both(world: World) -> None:
    """Or else nothing below would show anything."""
    answers = await walked(world, "fleet", OTHERS)
    naming = {name for name, text in answers.items() if OTHERS in text}
    assert naming >= {"object", "workload", "entry", "facts", "entries"}
    assert naming >= {"node", "impact", "incident", "incidents", "search"}
    assert naming >= {"workloads", "objects", "mcp jobs", "mcp objects"}
    assert naming >= {"export.ndjson?since=1h&facts=1", "mcp impact"}
    assert SECRET in answers["export.ndjson?since=1h&facts=1"]
    assert OF_A_NODE in answers["export.ndjson?since=1h&raw=1"]
    found: dict[str, set[str]] = {}
    for name, answer in answers.items():
        note_claims(found, name, answer)
    assert found.keys() == {OF_NODE}, found


async def check_nothing_of_another_tenant_is_shown(world: World) -> None:
    for subject in (MINE, OTHERS):
        answers = await walked(world, "tenant", subject)
        own = {name for name, text in answers.items() if MINE in text}
        if subject == OTHERS:
            # By these it was named in the question.
            for name in ("object", "workload", "whyWorkload"):
                refused = json.loads(answers.pop(name))
                assert refused["data"] == {name: None}
                assert "not_found" in str(refused["errors"])
            assert json.loads(answers["entry"])["data"] == {"entry": None}
        else:
            assert own >= {"object", "workload", "entry"}
        assert own >= {"facts", "entries", "node", "impact", "search"}
        leaks = {name for name, text in answers.items() if OTHERS in text}
        assert not leaks, {name: excerpt(answers[name]) for name in leaks}
        hidden = (SECRET, *CLAIMS)
        assert not [t for t in hidden for a in answers.values() if t in a]
        # It reads what happened to the machine, and no document of it.
        assert "rebooted" in answers["why"]
        assert NODE in answers["nodeNames"]
        raw = answers["export.ndjson?since=1h&raw=1"]
        assert OF_A_NODE not in raw
        assert "may get in the cluster" in answers["why"]


async def check_a_device_says_what_its_node_is_behind(world: World) -> None:
    """As `recorder get places` lists it, with who says so."""
    query = """{ place(name: "switch/leaf-8") {
      relations { child witness from to } } }"""
    reply = await world.ask("fleet", query)
    (one,) = reply.json["data"]["place"]["relations"]
    assert (one["child"], one["to"]) == (f"node/{NODE}", None)
    witness = "resourceslice/nics coreweave.dra.net/leafSwitch"
    assert one["witness"] == witness


async def check_who_sees_claims(world: World) -> None:
    """About a Node by the right to get it; all others by that to list them."""
    for who, seen in {"fleet": {OF_NODE}, "lister": {*CLAIMS}}.items():
        found: dict[str, set[str]] = {}
        for about in ({}, ABOUT_LEAF):
            named = {"incident.id": '"x"', "entry.name": '"1/1"'}
            queries = dict(walk({**arguments(MINE), **named, **about}))
            for name in ("entries", "place", "facts"):
                reply = await world.ask(who, queries[name])
                note_claims(found, name, reply.body.decode())
        for parameters in ("facts=1", "raw=1"):
            body = await exported(world, who, parameters)
            note_claims(found, parameters, body)
        assert found.keys() == seen, (who, found)
        for text in seen:
            assert found[text] >= {"facts=1", "raw=1"}, found
        shown = "place" in found.get("said-of-leaf", ())
        assert shown == (who == "lister"), found


def note_claims(found: dict[str, set[str]], name: str, answer: str) -> None:
    """Note which claims are in an answer."""
    for text in CLAIMS:
        if text in answer:
            found.setdefault(text, set()).add(name)


def excerpt(text: str) -> str:
    place = text.index(OTHERS)
    return text[max(0, place - 200) : place + 100]


async def check_who_is_refused(world: World) -> None:
    tokens = {
        "meant for the API server": await world.token("fleet"),
        "of another audience": await world.token("fleet", audiences=["x"]),
        "expired": expired(world),
        "signed by another": expired(world, lasts=3600, forged=True),
        "no token": "x",
    }
    for what, token in tokens.items():
        world.tokens[what] = token
        reply = await world.ask(what, QUERY)
        assert (reply.status, reply.codes) == (401, ["access.denied"]), what
        assert token not in reply.body.decode() or what == "no token"

    world.tokens["valid"] = expired(world, lasts=3600)
    assert (await world.ask("valid", QUERY)).status == 200

    reply = await world.ask("stranger", QUERY)
    assert reply.codes == ["access.forbidden"]
    assert reply.json["data"] == {"why": None}
    assert NODE not in reply.body.decode().replace(QUERY, "")

    masked = {"Impersonate-User": "system:admin"}
    reply = await world.ask("tenant", QUERY, **masked)
    assert (reply.status, reply.codes) == (403, ["access.forbidden"])


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


async def check_a_stream_shows_what_its_reader_may_see(world: World) -> None:
    async with listening(
        world.client, headers=world.headers("tenant"), query=FOLLOW
    ) as one:
        await one.event()
        for namespace in (OTHERS, MINE):
            for number in range(3):
                await world.cluster.kubectl(
                    "create", "job", f"{namespace}-{number}",
                    "--image=x", "-n", namespace,
                )  # fmt: skip
        seen: set[str] = set()
        while f"{MINE}-2" not in seen:
            _, document = await one.event()
            for fact in document["data"]["facts"]["facts"]:
                assert fact["object"]["namespace"] != OTHERS
                seen.add(fact["object"]["name"])


async def check_what_is_revoked_is_refused(world: World) -> None:
    """The constants are shortened here; in truth they are half a minute."""
    async with listening(
        world.client, headers=world.headers("fleet"), query=FOLLOW
    ) as one:
        await one.event()
        await world.cluster.kubectl("delete", "serviceaccount", "fleet")
        name, last = "", None
        while name != "complete":
            name, document = await one.event()
            last = document or last
        assert "access.denied" in str(last)
    assert (await world.ask("fleet", QUERY)).status == 401

    await world.cluster.kubectl("delete", "rolebinding", "tenant", "-n", MINE)

    async def refused() -> bool:
        reply = await world.ask("tenant", QUERY)
        return reply.codes == ["access.forbidden"]

    await until(refused, "the right is revoked", seconds=5)


def test_what_is_revoked_counts_for_less_than_a_minute() -> None:
    """A reader is checked again while a stream continues."""
    admitted = streaming.ADMITTED_FOR.total_seconds()
    assert reviewing.YES_SECONDS + admitted < 60
