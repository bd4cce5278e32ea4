"""The export gives every line that the command line prints, and no more."""

from typing import Any

import orjson
import pytest

from api import exporting
from recorder.store import read_fact_pages
from tests.api.serving import Client


async def exported(client: Client, query: str) -> list[dict[str, Any]]:
    reply = await client.request("GET", f"export.ndjson?{query}")
    assert reply.status == 200, reply.body
    assert reply.headers["Content-Type"] == "application/x-ndjson"
    return [orjson.loads(line) for line in reply.body.splitlines()]


async def test_every_entry_is_exported_once_and_in_order(
    served: Client,
) -> None:
    *lines, end = await exported(served, "cluster=crash")

    size = end["log"]["position"]
    assert [line["entry"] for line in lines] == [
        f"3/{position}" for position in range(1, size + 1)
    ]
    assert end["coverage"]["complete"] is True
    assert "raw" not in lines[0]


async def test_documents_are_exported_as_they_came(served: Client) -> None:
    *lines, _ = await exported(served, "cluster=crash&raw=1&node=gpu-002")

    name = lines[0]["entry"]
    opened = await served.ask(
        "query One($name: ID!) { entry(name: $name) { raw document } }",
        name=name,
    )
    assert lines[0]["raw"] == opened["entry"]["document"]
    assert {line["node"] for line in lines} == {"gpu-002"}


async def test_every_fact_is_exported_once_whatever_the_pages(
    served: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = await exported(served, "cluster=crash&facts=1")
    monkeypatch.setattr(read_fact_pages, "PAGE", 7)
    monkeypatch.setattr(exporting, "FULL", 7)

    assert await exported(served, "cluster=crash&facts=1") == whole
    places = [(line["entry"], line["index"]) for line in whole[:-1]]
    assert len(set(places)) == len(places)


async def test_filters_are_those_of_the_command_line(served: Client) -> None:
    *lines, _ = await exported(
        served, "cluster=crash&reason=NodeNotReady&facts=1"
    )

    assert lines
    assert {line["detail"]["reason"] for line in lines} == {"NodeNotReady"}


async def test_only_the_newest_are_given_where_a_limit_is(
    served: Client,
) -> None:
    *lines, end = await exported(served, "cluster=crash&limit=3")

    size = end["log"]["position"]
    assert [line["entry"] for line in lines] == [
        f"3/{size - 2}",
        f"3/{size - 1}",
        f"3/{size}",
    ]
