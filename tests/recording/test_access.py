"""Who may read what, as a real API server decides.

Two tenants share a machine that reboots. A reader of the history of one may
find nothing of the other, in any field.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from api.http import streaming
from api.resolvers import reviewing
from tests.api.listening import listening
from tests.api.test_agents import over_http
from tests.api.walking import walk
from tests.cluster.waiting import until
from tests.recording.tenants import (
    CLAIMS,
    MINE,
    NODE,
    OF_NODE,
    OTHERS,
    SECRET,
    World,
    a_world,
    expired,
)
from tests.support.postgres import Database

pytestmark = pytest.mark.timeout(180)

OF_A_NODE = "kubeProxyVersion"
"""A field that only the documents of Nodes have."""

QUERY = '{ why(node: "gpu-001") { verdicts { sentence } } }'
FOLLOW = "subscription { facts { facts { object { namespace name } } } }"

AGENTS: dict[str, dict[str, Any]] = {
    "impact": {"nodes": [NODE]},
    "incidents": {},
    "jobs": {},
    "objects": {"kind": "pods"},
}
"""Tools for agents that name workloads."""

ABOUT_LEAF = {"place.name": '"switch/leaf-7"', "subject": '"switch/leaf-7"'}
"""Arguments about a place that is no Node."""


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
