"""The export gives every line that the command line prints, and no more."""

from typing import Any

import orjson
import pytest

from api.http import exporting
from recorder.model.observation import AuditRecorded
from recorder.store import read_fact_pages
from tests.api.serving import Client
from tests.audit.receiving import a_record
from tests.support.builders import START
from tests.support.written_log import WrittenLog


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


async def test_refused_requests_are_selected_by_their_code(
    growing: Client, written_log: WrittenLog
) -> None:
    for code in (201, 403, 429):
        await written_log.append(
            AuditRecorded(
                observed_at=START,
                event=orjson.dumps(
                    a_record(f"{code}", responseStatus={"code": code})
                ),
            )
        )
    *lines, _ = await exported(growing, "code=403")
    answer = await growing.ask(
        """{ entries(code: 403, first: 50) { nodes { name } }
          facts(code: 403, first: 50) { nodes { entry } } }"""
    )

    names = [line["entry"] for line in lines]
    assert len(names) == 1
    assert [one["name"] for one in answer["entries"]["nodes"]] == names
    assert [one["entry"] for one in answer["facts"]["nodes"]] == names


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
    *whole, end = await exported(served, "cluster=crash&facts=1")
    monkeypatch.setattr(read_fact_pages, "PAGE", 7)
    monkeypatch.setattr(exporting, "FULL", 7)

    *again, last = await exported(served, "cluster=crash&facts=1")
    assert again == whole
    assert last["log"] == end["log"]
    places = [(line["entry"], line["index"]) for line in whole]
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


EXPORTED = ("cluster=crash&facts=1", "cluster=crash", "cluster=drain-audited")


@pytest.mark.parametrize("query", [*EXPORTED, f"{EXPORTED[0]}&since=3650d"])
async def test_nothing_is_sent_after_the_end_of_a_complete_export(
    served: Client, query: str
) -> None:
    *lines, end = await exported(served, query)

    until = end["coverage"]["until"]
    assert lines
    for line in lines:
        assert (line.get("occurred_at") or line["observed_at"]) < until
    if "since" not in query:
        assert end["coverage"]["complete"] is True


async def test_an_end_that_was_asked_for_is_that_of_the_export(
    served: Client,
) -> None:
    *_, end = await exported(served, "cluster=crash&facts=1")
    until = end["coverage"]["proven_until"]

    *lines, end = await exported(
        served, f"cluster=crash&facts=1&until={until}"
    )

    assert end["coverage"]["until"] == until
    assert all(
        (line["occurred_at"] or line["observed_at"]) < until for line in lines
    )
