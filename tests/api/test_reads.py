"""Who read what is in a log of its own, before the answer is given."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import pytest

from recorder.answers.nouns import Part, Selection
from recorder.answers.queries import EntryQuery
from recorder.keeping.tokens import TokenFile
from recorder.model.settings import Settings
from recorder.wiring import reads as wiring
from recorder.wiring.reading import open_logs
from recorder.wiring.serving import serving
from tests.api.listening import listening
from tests.api.serving import Client, Reply
from tests.api.test_websocket import talking
from tests.cluster.waiting import until
from tests.support.fixed_log import STORY, write_log
from tests.support.postgres import Database

QUERY = "{ nodeNames }"
LOG = "reads"


@asynccontextmanager
async def recorded(
    database: Database, folder: Path
) -> AsyncIterator[tuple[Client, str]]:
    """Serve with a log of reads; yield a client, and the token of `alice`."""
    await write_log(database.dsn("writer"), STORY)
    token = TokenFile(folder / "tokens").add("alice")
    settings = Settings(
        database_url=database.dsn("writer"),
        data_dir=folder,
        kubeconfig="/nonexistent",
        serve_listen="127.0.0.1:0",
        token_file=folder / "tokens",
        serve_read_log=LOG,
    )
    async with (
        serving(settings, asyncio.Event()) as address,
        aiohttp.ClientSession() as session,
    ):
        client = Client(address, session)

        async def answers() -> bool:
            return (await asked(client, token)).status == 200

        await until(answers, "reads are recorded", seconds=20)
        yield client, token


async def asked(client: Client, token: str, query: str = QUERY) -> Reply:
    return await client.post(
        {"query": query}, headers={"Authorization": f"Bearer {token}"}
    )


async def reads_of(database: Database) -> list[dict[str, Any]]:
    """Return the records of the log of reads, in its order."""
    settings = Settings(
        database_url=database.dsn("reader"), data_dir=Path("/nonexistent")
    )
    async with open_logs(settings) as logs:
        reading = await logs.read(None, cluster=LOG)
        return [
            json.loads(line.raw or b"{}")
            async for page in reading.pages(
                EntryQuery(Selection(), Part.OPENED), after=0
            )
            for line in page
        ]


async def test_every_answer_is_recorded_with_who_asked_and_how_much(
    database: Database, tmp_path: Path
) -> None:
    query = "{ clusters { name } __typename }"
    async with recorded(database, tmp_path) as (client, token):
        headers = {"Authorization": f"Bearer {token}"}
        answer = await asked(client, token, query)
        # At once in the log: the answer was given after it.
        (found,) = [
            one
            for one in await reads_of(database)
            if one.get("requestObject", {}).get("query") == query
        ]
        exported = await client.request(
            "GET", "export.ndjson?cluster=prod", headers=headers
        )
        await asked(client, "rec_forged")
        async with listening(client, headers=headers) as one:
            await one.batch()

        async def ended() -> bool:
            records = await reads_of(database)
            return [one["stage"] for one in records[-2:]] == [
                "ResponseStarted",
                "ResponseComplete",
            ] and "subscription" in str(records[-1])

        await until(ended, "the end of the subscription is recorded")
        records = await reads_of(database)

    assert answer.json["data"]["clusters"][0]["name"] == "prod"
    assert found["user"] == {"username": "alice"}
    assert found["stage"] == "ResponseComplete"
    assert found["responseStatus"]["code"] == 200
    assert int(found["annotations"]["recorder/bytes"]) == len(answer.body)
    export = [one for one in records if "export" in one["requestURI"]]
    assert [one["stage"] for one in export] == [
        "ResponseStarted",
        "ResponseComplete",
    ]
    assert export[0]["requestURI"] == "/export.ndjson?cluster=prod"
    size = int(export[1]["annotations"]["recorder/bytes"])
    assert size == len(exported.body)
    # No request was admitted: nothing was read, and no token is in the log.
    assert {one["user"]["username"] for one in records} == {"alice"}
    assert token not in json.dumps(records)


async def test_a_question_that_is_hardly_json_is_recorded_too(
    database: Database, tmp_path: Path
) -> None:
    """Of an agent: its protocol reads more as JSON than JSON has."""
    call = (
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call",'
        b' "params": {"name": "clusters", "arguments": {}}, "x": NaN}'
    )
    deep = b"[" * 300 + b"]" * 300
    query = b'{"query": "{ clusters { name } }", "variables": {"x": %s}}'
    async with recorded(database, tmp_path) as (client, token):
        for path, asked in (("mcp", call), ("graphql", query % deep)):
            reply = await client.request(
                "POST",
                path,
                data=asked,
                headers={
                    "Authorization": f"Bearer {token}",
                    "Accept": "application/json, text/event-stream",
                    "Content-Type": "application/json",
                    "X-Forwarded-For": "192.0.2.1",
                },
            )
            assert reply.status == 200
            assert b"prod" in reply.body
            record = (await reads_of(database))[-1]
            assert record["requestObject"] == {"text": asked.decode()}
            # Who connected, and not what a header says.
            assert record["sourceIPs"] == ["127.0.0.1"]


async def test_what_is_asked_over_a_websocket_is_recorded_too(
    database: Database, tmp_path: Path
) -> None:
    async with recorded(database, tmp_path) as (client, token):
        async with talking(client) as one:
            await one.begin(Authorization=f"Bearer {token}")
            await one.subscribe("1", "{ clusters { name } }")
            answer = await one.hear()
            assert (await one.hear())["type"] == "complete"
        records = [
            read
            for read in await reads_of(database)
            if "clusters" in str(read.get("requestObject"))
        ]

    assert answer["payload"]["data"]["clusters"][0]["name"] == "prod"
    assert [read["stage"] for read in records] == [
        "ResponseStarted",
        "ResponseComplete",
    ]
    assert records[0]["user"] == {"username": "alice"}


async def test_what_cannot_be_recorded_is_not_answered(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "COMMIT_SECONDS", 0.5)
    async with recorded(database, tmp_path) as (client, token):
        locking = await asyncpg.connect(database.superuser_dsn())
        async with locking.transaction():
            await locking.execute(
                "select 1 from recorder.log_head h"
                " join recorder.log l using (log_id)"
                " where l.cluster_name = 'reads' for update"
            )
            refused = await asked(client, token)
        await locking.close()

        async def answers() -> bool:
            return (await asked(client, token)).status == 200

        await until(answers, "reads are recorded again", seconds=30)

    assert (refused.status, refused.codes) == (503, ["access.unrecorded"])
    assert "data" not in refused.json


async def test_a_log_of_reads_is_not_taken_for_a_cluster(
    database: Database, tmp_path: Path
) -> None:
    async with recorded(database, tmp_path) as (client, token):
        answer = await asked(client, token)

    assert answer.json["data"]["nodeNames"], "of the only cluster"
