"""No tenant reads of another, whichever field, tool or stream is asked.

Every field of the schema is walked, so that a new one is asked too. What a
real API server grants is in ``tests/recording/test_access.py``.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from api.resolvers.cursors import Cursor
from tests.api.listening import listening
from tests.api.serving import Client, Reply
from tests.api.tenants import (
    MACHINE,
    OTHERS_MACHINE,
    OWN_SECRET,
    TENANTS,
    WITHHELD,
    Tenants,
    served_to,
)
from tests.api.test_agents import over_http
from tests.api.walking import schema, walk
from tests.support.postgres import Database

WINDOW = {
    "since": "2026-11-21T02:00:00Z",
    "until": "2026-11-21T04:00:00Z",
}
OF_WINDOW = "&".join(f"{name}={at}" for name, at in WINDOW.items())
EXPORTS = [
    f"export.ndjson?{OF_WINDOW}&{more}"
    for more in ("", "facts=1", "raw=1", f"facts=1&node={MACHINE}")
]
STREAMED = {
    "facts": "facts { entry node says detail object { namespace name } }",
    "incidents": "incidents { sentence nodes } gone",
    "verdicts": "verdicts { sentence node } gone",
    "disruptions": "disruptions { workload { name } ending { sentence } }",
}
"""What is selected of each subscription, besides its coverage."""


@dataclass(frozen=True)
class World:
    """The log of the tenants, served."""

    client: Client
    tenants: Tenants

    async def ask(self, who: str, query: str) -> Reply:
        reply = await self.client.post({"query": query}, headers=token(who))
        assert reply.status == 200, reply.body[:500]
        return reply

    async def data(self, who: str, query: str) -> Any:
        found = (await self.ask(who, query)).json
        assert "errors" not in found, found
        return found["data"]


def token(who: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {who}"}


@asynccontextmanager
async def a_world(database: Database) -> AsyncIterator[World]:
    tenants = Tenants(database.dsn("writer"))
    try:
        await tenants.begin()
        async with served_to(database.dsn("reader")) as client:
            yield World(client, tenants)
    finally:
        await tenants.end()


def arguments(tenant: str, machine: str) -> dict[str, str]:
    """Return values for every argument of the schema, about a tenant."""
    job = json.dumps(f"job/{tenant}/{tenant}-job")
    node = json.dumps(machine)
    given = {name: json.dumps(at) for name, at in WINDOW.items()}
    return given | {
        "node": node,
        "nodes": f"[{node}]",
        "object.name": job,
        "workload.name": job,
        "whyWorkload.name": job,
        "node.name": node,
        "place.name": json.dumps(f"node/{machine}"),
        "objects.kind": json.dumps("pods"),
        "text": json.dumps(tenant),
        "from": given["since"],
        "to": given["until"],
        "subject": json.dumps(f"node/{machine}"),
        "last": "500",
    }


def tools(tenant: str, machine: str) -> dict[str, dict[str, Any]]:
    """Return what to ask of each tool for agents, about a tenant."""
    job = f"job/{tenant}/{tenant}-job"
    return {
        "clusters": {},
        "why": {"node": machine},
        "why_workload": {"object": job},
        "impact": {"nodes": [machine], **WINDOW},
        "incidents": WINDOW,
        "jobs": WINDOW,
        "search": {"text": tenant},
        "objects": {"kind": "pods"},
        "who": {"object": job},
        "history": {"object": job},
        "coverage": WINDOW,
        "entries": {**WINDOW, "limit": 200, "documents": True},
    }


async def walked(
    world: World, who: str, tenant: str, machine: str
) -> dict[str, str]:
    """Ask everything there is to ask about a tenant and a machine."""
    given, asked = arguments(tenant, machine), world.client
    incidents = await world.data(
        "operator",
        f"{{ incidents({of_window()}) {{ nodes {{ id nodes }} }} }}",
    )
    ids = {
        one["nodes"][0]: one["id"] for one in incidents["incidents"]["nodes"]
    }
    given["incident.id"] = json.dumps(ids[machine])
    entries = await world.data(
        "operator",
        "{ entries(first: 500) { nodes { name object { name } } } }",
    )
    given["entry.name"] = json.dumps(
        next(
            one["name"]
            for one in entries["entries"]["nodes"]
            if one["object"] and one["object"]["name"] == f"{tenant}-job"
        )
    )
    answers = {
        name: (await world.ask(who, query)).body.decode()
        for name, query in walk(given)
    }
    given |= {"object.name": json.dumps(f"node/{machine}")}
    everywhere: dict[str, Any] = {"facts.node": None, "entries.node": None}
    for name, query in walk(given | everywhere):
        if name in {"object", "facts", "entries"}:
            answers[f"other {name}"] = (
                await world.ask(who, query)
            ).body.decode()
    for path in EXPORTS:
        got = await asked.request("GET", path, headers=token(who))
        answers[path] = got.body.decode()
    async with over_http(asked.address, token=who) as agent:
        for tool in (await agent.list_tools()).tools:
            answer = await agent.call_tool(
                tool.name, tools(tenant, machine)[tool.name]
            )
            answers[f"mcp {tool.name}"] = str(answer.content)
    subscriptions = schema().subscription_type
    assert subscriptions is not None
    for field in subscriptions.fields:
        after = "" if field != "facts" else f'(after: "{begin(world)}")'
        wanted = f"{field}{after} {{ {STREAMED[field]} coverage {{ says }} }}"
        async with listening(
            asked,
            headers=token(who),
            query=f"subscription {{ {wanted} }}",
        ) as one:
            answers[f"subscribed {field}"] = json.dumps(await one.event())
    return answers


def of_window() -> str:
    return ", ".join(f'{name}: "{at}"' for name, at in WINDOW.items())


def begin(world: World) -> str:
    return str(Cursor.behind(world.tenants.log, 0))


def naming(answers: Mapping[str, str], word: str) -> dict[str, str]:
    """Return the answers with a word, and the text around it."""
    return {
        name: text[max(0, text.index(word) - 150) : text.index(word) + 50]
        for name, text in answers.items()
        if word in text
    }


NAMED_IN_THE_QUESTION = (
    "other object",
    "facts",
    "entries",
    "object",
    "workload",
    "whyWorkload",
    "place",
    "node",
    "why",
    "impact",
    "postmortem",
    "mcp why_workload",
    "mcp who",
    "mcp history",
    "mcp why",
    "mcp impact",
)
"""Whose errors repeat the name that was asked for."""


async def test_no_tenant_learns_of_another(database: Database) -> None:
    async with a_world(database) as world:
        await check_who_may_read_everything_receives_it(world)
        await check_nothing_of_another_is_shown(world, "amber", "blue")
        await check_nothing_of_another_is_shown(world, "blue", "amber")
        await check_another_is_as_if_it_were_not(world)


async def check_who_may_read_everything_receives_it(world: World) -> None:
    """Or else nothing below would show anything."""
    answers = await walked(world, "operator", "blue", MACHINE)

    assert set(naming(answers, WITHHELD)) >= {
        "facts", "entries", "node", "gaps", "status", "clusters",
        "other object", "other facts", "other entries",
        *EXPORTS, "mcp entries", "mcp coverage", "subscribed facts",
    }  # fmt: skip
    for tenant in TENANTS:
        assert set(naming(answers, tenant)) >= {
            "facts", "entries", "node", "impact", "incident", "incidents",
            "mcp impact", *EXPORTS, "subscribed facts",
        }  # fmt: skip
    assert OWN_SECRET in answers[EXPORTS[1]]


async def check_nothing_of_another_is_shown(
    world: World, who: str, other: str
) -> None:
    own = await walked(world, who, who, MACHINE)

    assert naming(own, other) == {}
    assert naming(own, WITHHELD) == {}
    # It is their machine: what happened to it, and why, is shown.
    for name in ("why", "node", "incidents", "incident", "mcp why"):
        assert "hung-kernel" in own[name].lower().replace("_", "-"), name
        assert "CPUSoftLockup" in own[name], name
    # And what names them alone of all that runs there.
    blocks = f"Pod {who}/{who}-job-{MACHINE} blocks"
    assert set(naming(own, blocks)) >= {
        "facts", "entries", *EXPORTS[1:], "subscribed facts",
    }  # fmt: skip
    assert set(naming(own, f"{who}-job")) >= {
        "object", "workload", "whyWorkload", "entry", "facts", "entries",
        "impact", "search", "workloads", "mcp impact", "mcp jobs",
        "mcp history", *EXPORTS, "subscribed facts",
    }  # fmt: skip


async def check_another_is_as_if_it_were_not(world: World) -> None:
    answers = await walked(world, "amber", "blue", OTHERS_MACHINE)
    asked = {name: answers.pop(name) for name in NAMED_IN_THE_QUESTION}

    assert naming(answers, "blue") == {}
    assert naming(asked, "blue-job-") == {}
    assert naming({**answers, **asked}, WITHHELD) == {}
    for name, text in asked.items():
        assert "not_found" in text, (name, text)
