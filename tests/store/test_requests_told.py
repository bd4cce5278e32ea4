"""Details of a request are in its entry; formerly in its fact."""

import orjson
from msgspec import json

from recorder.answers.queries import FactQuery, Purpose
from recorder.intake.deriving import Deriver
from recorder.model.facts import Requested
from recorder.model.observation import AuditRecorded
from recorder.store.engine import make_engine
from recorder.store.read import LogReading
from recorder.store.writer import Writer
from tests.audit.receiving import a_record
from tests.contract.test_log import SPEC, Observer
from tests.support.builders import START
from tests.support.postgres import Database, connected

BODY = {"spec": {"unschedulable": True}}
NODE = {"resource": "nodes", "name": "gpu-001", "apiVersion": "v1"}


async def without_triggers(
    database: Database, statement: str, *given: object
) -> None:
    async with connected(database.superuser_dsn()) as connection:
        for table in ("entry", "fact"):
            await connection.execute(
                f"alter table recorder.{table} disable trigger all"
            )
        await connection.execute(statement, *given)


async def requests(database: Database) -> list[Requested]:
    engine = make_engine(database.dsn("reader"))
    try:
        reading = await LogReading.at_present(engine, 1)
        facts = await reading.facts(
            FactQuery(purpose=Purpose.ALL, nodes=["gpu-001"])
        )
    finally:
        await engine.dispose()
    details = [stored.fact.detail for stored in facts]
    assert all(isinstance(detail, Requested) for detail in details)
    return [d for d in details if isinstance(d, Requested)]


async def test_it_is_read_from_the_entry_and_of_older_rules_from_the_fact(
    any_database: Database,
) -> None:
    writer = Writer(any_database.dsn("writer"), SPEC, holder="a")
    records = [
        a_record(f"{number}", objectRef=NODE, verb="patch", requestObject=BODY)
        for number in range(3)
    ]
    batch = Observer(await writer.take_lease()).batch(
        *(
            AuditRecorded(observed_at=START, event=orjson.dumps(one))
            for one in records
        )
    )
    await Deriver(writer).derive(batch)
    await writer.append(batch)
    await writer.close()
    older = Requested(user="bob", body="{}")
    await without_triggers(
        any_database,
        "update recorder.fact set detail = $1 where position = 2",
        b"\0" + json.encode(older),
    )

    found = await requests(any_database)

    assert found[1] == older
    assert [one.audit_id for one in found] == ["0", None, "2"]
    assert found[0].body == orjson.dumps(BODY).decode()
    assert found[0].user == "alice@example.com"


async def test_a_request_whose_entry_was_dropped_is_no_fact(
    any_database: Database,
) -> None:
    writer = Writer(any_database.dsn("writer"), SPEC, holder="a")
    record = a_record("1", objectRef=NODE)
    batch = Observer(await writer.take_lease()).batch(
        AuditRecorded(observed_at=START, event=orjson.dumps(record))
    )
    await Deriver(writer).derive(batch)
    await writer.append(batch)
    await writer.close()
    await without_triggers(any_database, "delete from recorder.entry")

    assert await requests(any_database) == []
