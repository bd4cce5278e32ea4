"""What a tenant learns from limits, cursors and errors about what is hidden.

Each question is asked with a filter that hidden entries match as well: the
answer is as if there were none of them.
"""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import orjson
import pytest

from api.resolvers.cursors import Cursor, Order
from api.resolvers.visible.naming import namespaces_in, words_of_event
from tests.api.serving import Client
from tests.api.tenants import MACHINE, Tenants, requested, served_to
from tests.api.test_agents import over_http
from tests.api.test_tenants import token
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer

ACTOR = "shared-owner"
"""Wrote a Pod of amber, and then much of blue."""

HIDDEN = 7


@pytest.fixture(scope="module")
def counted(embedded_server: DatabaseServer) -> Iterator[Database]:
    async def fill(writer: str) -> None:
        written_log = Tenants(writer)
        await written_log.begin()
        for number in (100, *range(101, 101 + HIDDEN)):
            space = "amber" if number == 100 else "blue"
            pod = {"resource": "pods", "namespace": space}
            pod["name"] = f"{space}-job-{MACHINE}"
            await written_log.append(
                requested(number, "patch", pod, {"a": number}, user=ACTOR)
            )
        await written_log.end()

    with filled_database(embedded_server, fill) as database:
        yield database


@pytest.fixture
async def client(counted: Database) -> AsyncIterator[Client]:
    async with served_to(counted.dsn("reader")) as client:
        yield client


async def exported(client: Client, who: str, query: str) -> list[Any]:
    reply = await client.request(
        "GET", f"export.ndjson?{query}", headers=token(who)
    )
    assert reply.status == 200, reply.body
    return [orjson.loads(line) for line in reply.body.splitlines()][:-1]


@pytest.mark.parametrize("facts", ["", "&facts=1"])
async def test_a_limit_counts_what_is_seen(client: Client, facts: str) -> None:
    asked = f"actor={ACTOR}{facts}"
    own = await exported(client, "amber", f"{asked}&limit=1")

    assert own
    assert "amber-job" in json.dumps(own)
    assert own == await exported(client, "amber", asked)
    every = await exported(client, "operator", asked)
    assert len(every) >= len(own) + HIDDEN
    (last,) = await exported(client, "operator", f"actor={ACTOR}&limit=1")
    assert "blue-job" in json.dumps(last)


async def test_an_agent_hears_of_no_more_than_is_seen(client: Client) -> None:
    async def asked(who: str) -> Any:
        async with over_http(client.address, token=who) as agent:
            answer = await agent.call_tool(
                "entries", {"actor": ACTOR, "limit": 1}
            )
            return answer.structured_content

    own, every = await asked("amber"), await asked("operator")

    assert [len(one["entries"]) for one in (own, every)] == [1, 1]
    assert "amber-job" in own["entries"][0]["object"]
    assert (own["more"], every["more"]) == (False, True)


@pytest.mark.parametrize("field", ["facts", "entries", "incidents"])
async def test_a_cursor_beyond_the_end_shows_no_size(
    client: Client, field: str
) -> None:
    beyond = str(Cursor.behind(1, 10**9))
    if field == "incidents":
        beyond = str(Cursor(Order.INCIDENTS, "1", {"1": (0, 10**9)}))
    query = f'{{ {field}(after: "{beyond}") {{ coverage {{ complete }} }} }}'
    said = {}
    for who in ("amber", "operator"):
        reply = await client.post({"query": query}, headers=token(who))
        said[who] = reply.json["errors"][0]["message"]

    assert "ends before it" in said["amber"]
    assert "ends at " in said["operator"]


@pytest.mark.parametrize(
    "text",
    [
        "Pod blue/job blocks",
        "job_blue(uid) is stuck",
        "namespace blue is drained",
        "Namespace: blue",
        'cannot evict: {"namespace": "blue", "name": "job"}',
        "waits for ns/blue",
        "GET /api/v1/namespaces/blue refused",
    ],
)
def test_a_text_names_a_namespace(text: str) -> None:
    assert "blue" in namespaces_in(text)


@pytest.mark.parametrize(
    "event",
    [
        {"message": "Pod blue/job"},
        {"note": "Pod blue/job"},
        {"message": "full", "related": {"namespace": "blue"}},
        {"message": "full", "metadata": {"annotations": {"by": "blue/job"}}},
        {"message": "full", "metadata": {"labels": {"namespace": "blue"}}},
    ],
)
def test_an_event_names_a_namespace_in_any_of_its_words(
    event: dict[str, Any],
) -> None:
    assert "blue" in namespaces_in(words_of_event(orjson.dumps(event)))
    event |= {"involvedObject": {"namespace": "blue"}}
    event |= {"message": "full", "note": "", "related": 1, "metadata": "?"}
    assert not namespaces_in(words_of_event(orjson.dumps(event)))
