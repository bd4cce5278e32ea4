"""The SQL views say what the answers say, and what is documented runs."""

import random
import re
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import asyncpg
import orjson
import pytest

from recorder.model.moment import written
from tests.api.conftest import TAPES
from tests.api.serving import Client
from tests.support.postgres import Database

PAGE = Path(__file__).parents[2] / "docs/sql.md"
LOGS = range(1, len(TAPES) + 2)
ROW = re.compile(r"\| `(\w+)` \| [^|]+ \| (`[^|]+`) \|")
BLOCK = re.compile(r"```sql\n(.*?)```", re.DOTALL)


@pytest.fixture
async def reader(
    asked_database: Database,
) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(asked_database.dsn("reader"))
    yield connection
    await connection.close()


async def rows(
    reader: asyncpg.Connection, query: str, *given: Any
) -> Sequence[Mapping[str, Any]]:
    return [
        {
            name: written(value) if isinstance(value, datetime) else value
            for name, value in row.items()
        }
        for row in await reader.fetch(query, *given)
    ]


async def exported(
    client: Client, log: int, more: str = ""
) -> list[dict[str, Any]]:
    reply = await client.request("GET", f"export.ndjson?log={log}{more}")
    *lines, _ = map(orjson.loads, reply.body.splitlines())
    return lines


def picked(line: Mapping[str, Any], *names: str) -> dict[str, Any]:
    thing = line["object"] or {}
    whole = {
        **line,
        "kind": thing.get("kind"),
        "namespace": thing.get("namespace") or None,
        "name": thing.get("name"),
        "uid": thing.get("uid"),
    }
    return {name: whole[name] for name in names}


ENTRY = (
    *("entry", "cluster", "source", "resource", "operation", "kind"),
    *("namespace", "name", "uid", "resource_version", "node", "reason"),
    *("actor", "occurred_at", "observed_at", "recorded_at"),
)


@pytest.mark.parametrize("log", LOGS)
async def test_entries_are_those_of_the_log(
    served: Client, reader: asyncpg.Connection, log: int
) -> None:
    query = "select * from history.entries where log = $1 order by position"
    found = await rows(reader, query, log)

    assert [{name: row[name] for name in ENTRY} for row in found] == [
        picked(line, *ENTRY) for line in await exported(served, log)
    ]


FACT = (
    *("entry", "index", "fact", "node", "kind", "namespace", "name", "uid"),
    *("occurred_at", "observed_at", "actor"),
)


@pytest.mark.parametrize("log", LOGS)
async def test_facts_are_those_of_the_log_with_their_details(
    served: Client, reader: asyncpg.Connection, log: int
) -> None:
    found = await rows(
        reader,
        "select * from history.facts where log = $1 order by position, index",
        log,
    )
    lines = await exported(served, log, "&facts=1")

    assert [{name: row[name] for name in FACT} for row in found] == [
        picked(line, *FACT) for line in lines
    ]
    for row, line in zip(found, lines, strict=True):
        detail = orjson.loads(row["detail"])
        # What is null or at its default may be left out of what is stored.
        assert detail == {name: line["detail"][name] for name in detail}


async def test_conditions_are_the_changes_and_those_of_the_beginning(
    served: Client, reader: asyncpg.Connection
) -> None:
    query = """select * from history.conditions where log = 1
      and kind = 'Node' order by recorded_at, entry, type"""
    found = await rows(reader, query)
    lines = await exported(served, 1, "&facts=1")
    changed = [one for one in lines if one["fact"] == "condition-changed"]

    assert {
        (row["entry"], row["type"], row["old_status"], row["status"])
        for row in found
        if not row["is_first"]
    } == {
        (
            one["entry"],
            one["detail"]["type"],
            (one["detail"]["old"] or {}).get("status"),
            (one["detail"]["new"] or {}).get("status"),
        )
        for one in changed
        if one["object"]["kind"] == "Node"
    }
    first = [row for row in found if row["is_first"]]
    assert {"Ready"} <= {row["type"] for row in first}
    assert any(row["type"] == "KernelDeadlock" for row in found)


async def test_events_have_their_reason_and_message(
    served: Client, reader: asyncpg.Connection
) -> None:
    found = await rows(
        reader, "select * from history.events where log = 3 order by entry"
    )
    lines = await exported(served, 3, "&facts=1")
    events = [one for one in lines if one["fact"] == "event"]

    assert sorted(
        (row["entry"], row["reason"], row["message"], row["reporter"])
        for row in found
    ) == sorted(
        (
            one["entry"],
            one["detail"]["reason"],
            one["detail"]["message"],
            one["actor"],
        )
        for one in events
    )
    assert "Rebooted" in {row["reason"] for row in found}


async def test_boots_are_the_first_one_and_each_change(
    reader: asyncpg.Connection,
) -> None:
    found = await rows(
        reader,
        "select * from history.boots where log = 3 and node = 'gpu-002'"
        " order by observed_at",
    )

    assert [row["is_first"] for row in found] == [True, False]
    assert found[1]["old_boot_id"] == found[0]["boot_id"]
    assert found[1]["boot_id"] not in {None, found[0]["boot_id"]}


async def test_disruptions_are_of_pods_that_had_to_go(
    reader: asyncpg.Connection,
) -> None:
    found = await rows(
        reader, "select * from history.disruptions where log = 4"
    )

    assert found
    assert {row["node"] for row in found} != {None}
    assert all(row["pod"] for row in found)


async def test_coverage_shows_until_when_each_resource_is_vouched_for(
    served: Client, reader: asyncpg.Connection
) -> None:
    found = await rows(reader, "select * from history.coverage where log = 3")
    answer = await served.ask(
        "{ clusters { log { id } sources { resource vouchedUntil } } }"
    )
    (sources,) = (
        one["sources"] for one in answer["clusters"] if one["log"]["id"] == "3"
    )

    assert {row["resource"]: row["vouched_until"] for row in found} == {
        one["resource"]: one["vouchedUntil"] for one in sources
    }


def texts() -> list[bytes]:
    chance = random.Random(5)
    words = [b"Ready", b"kubelet", b'{"type":', b"node-7", b"\xff\x00"]
    return [
        b"",
        b"a",
        b"a" * 5000,
        bytes(range(256)) * 3,
        chance.randbytes(3000),
        b" ".join(chance.choices(words, k=800)),
    ]


@pytest.mark.parametrize("dictionary", [b"", b"kubelet node-7 Ready" * 50])
@pytest.mark.parametrize(
    ("level", "strategy"),
    [
        (0, zlib.Z_DEFAULT_STRATEGY),
        (1, zlib.Z_DEFAULT_STRATEGY),
        (9, zlib.Z_DEFAULT_STRATEGY),
        (6, zlib.Z_FIXED),
        (6, zlib.Z_HUFFMAN_ONLY),
        (6, zlib.Z_RLE),
    ],
)
async def test_what_was_deflated_is_inflated(
    reader: asyncpg.Connection, level: int, strategy: int, dictionary: bytes
) -> None:
    given: dict[str, Any] = {"zdict": dictionary} if dictionary else {}
    for text in texts():
        stream = zlib.compressobj(level, wbits=-14, strategy=strategy, **given)
        deflated = stream.compress(text) + stream.flush()

        assert text == await reader.fetchval(
            "select history.inflate($1, $2)", deflated, dictionary
        )


async def test_what_is_no_deflated_text_is_an_error(
    reader: asyncpg.Connection,
) -> None:
    for bad in (b"", b"\x06", b"\x07nonsense", b"\x05\xff\xff\xff\xff"):
        with pytest.raises(asyncpg.PostgresError):
            await reader.fetchval(
                "select history.inflate($1, '')", bad, timeout=5
            )


async def test_the_columns_are_those_that_are_documented(
    reader: asyncpg.Connection,
) -> None:
    found = await reader.fetch(
        "select table_name, column_name from information_schema.columns"
        " where table_schema = 'history' order by ordinal_position"
    )
    columns: dict[str, list[str]] = {}
    for view, column in found:
        columns.setdefault(view, []).append(column)

    documented = {
        view: re.findall(r"`(\w+)`", listed)
        for view, listed in ROW.findall(PAGE.read_text())
    }
    assert columns == documented


async def test_the_role_for_dashboards_reads_the_views(
    asked_database: Database,
) -> None:
    (statements,) = (
        block for block in BLOCK.findall(PAGE.read_text()) if "role" in block
    )
    connection = await asyncpg.connect(asked_database.superuser_dsn())
    transaction = connection.transaction()
    await transaction.start()
    try:
        await connection.execute(statements)
        await connection.execute("set local role grafana")
        assert await connection.fetch("select * from history.boots")
    finally:
        await transaction.rollback()
        await connection.close()


async def test_a_reader_only_reads(reader: asyncpg.Connection) -> None:
    for statement in (
        "delete from history.entries",
        "create table history.mine ()",
        "insert into history.coverage (log) values (1)",
    ):
        with pytest.raises(asyncpg.PostgresError):
            await reader.execute(statement)
