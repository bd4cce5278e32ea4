"""Facts are led to by their indices, with the plans that readers keep."""

import asyncpg
import orjson
import pytest

from recorder.intake.deriving import Deriver
from recorder.store.engine import connect
from recorder.store.read_fact_pages import newest_facts
from recorder.store.read_facts import PLACES_OF_ALL, PLACES_OF_NODES
from recorder.store.read_gangs import DISPLACED, FAMILIES, FAMILY
from recorder.store.read_labels import LABELS, LABELS_OF_PLACE
from recorder.store.read_nodes import NEWEST
from recorder.store.statement import Statement
from recorder.store.writer import Writer
from tests.contract.test_log import SPEC, Observer
from tests.store.test_read_plans import PARENTS, walked
from tests.support.builders import NODES, a_frame, a_list, a_node
from tests.support.many import filled
from tests.support.postgres import Database, DatabaseServer, connected

TYPES = {
    "log": "bigint",
    "size": "bigint",
    "derivation": "bigint",
    "nodes": "text[]",
    "names": "text[]",
    "uids": "text[]",
    "since": "timestamptz",
    "until": "timestamptz",
    "before": "timestamptz",
    "together": "interval",
    "value": "text",
    "key": "text",
    "operations": "smallint[]",
    "events": "text[]",
}
"""Of the values of statements, by their names."""

MANY = """
    insert into recorder.fact (recorded_at, at, position, index, object_id,
      derivation_id, node_id, kind, bearing, place, labels, detail)
    select f.recorded_at, f.at, f.position, n % 20000, 1000 + n,
      f.derivation_id, 1000 + n, case when n <= 2000 then 1 else 20 end,
      case when n <= 2000 then 2 else 0 end,
      case when n <= 2000 then
        '{"example.com/rack":"rack-' || n % 200 || '"}' end,
      case when n <= 2000 then array['example.com/rack=rack-' || n % 200,
        '=rack-' || n % 200] end,
      f.detail
    from recorder.fact f, generate_series(1, 40000) n where f.kind = 5
"""
"""Nodes of 200 racks, and facts of Pods of as many nodes."""

INDICES = """
    select c.relname from pg_index i
    join pg_class c on c.oid = i.indexrelid
    where i.indrelid = (select tableoid from recorder.fact limit 1)
"""
MONTHS = """
    select recorder.add_partition('2026-11-10T00:00:00Z'::timestamptz
      - n * interval '1 day') from generate_series(1, 120) n
"""
"""A log may hold little of it, as of the day that begins."""

LABELLED = {"fact_by_label", "fact_by_node", "fact_by_standing"}


@pytest.mark.parametrize(
    ("statement", "indices"),
    [
        (LABELS, LABELLED),
        (LABELS_OF_PLACE, LABELLED),
        (PLACES_OF_ALL, {"fact_by_place"}),
        (PLACES_OF_NODES, {"fact_by_node"}),
        (
            DISPLACED,
            {
                "fact_by_disruption",
                "fact_by_eviction",
                "fact_by_object",
                "fact_by_owner",
                "fact_by_placing",
                "fact_by_preemption",
            },
        ),
        (
            FAMILY,
            {"fact_by_owner", "fact_by_object"},
        ),
        (
            FAMILIES,
            {"fact_by_owner", "fact_by_object"},
        ),
    ],
    ids=[
        "labels",
        "labels of place",
        "places",
        "place",
        "displaced",
        "below",
        "whole",
    ],
)
async def test_a_question_reads_what_its_indices_lead_to(
    any_database: Database,
    statement: Statement,
    indices: set[str],
) -> None:
    await _filled(any_database)
    reader = await connect(
        any_database.dsn("reader"), plans="force_generic_plan"
    )
    try:
        plan = await _generic_plan(reader, statement)
        parents = dict(await reader.fetch(PARENTS))
        of_day = {name for (name,) in await reader.fetch(INDICES)}
    finally:
        await reader.close()

    nodes = list(walked(orjson.loads(plan)[0]["Plan"]))
    used = {node.get("Index Name") for node in nodes} & of_day
    assert {parents[name] for name in used} == indices


@pytest.mark.parametrize(
    ("condition", "index"),
    [
        ("f.node_id = 1007", "fact_by_node"),
        ("f.object_id = 1007", "fact_by_object"),
    ],
)
async def test_the_newest_of_few_are_not_walked_to(
    any_database: Database, condition: str, index: str
) -> None:
    await _filled(any_database)
    reader = await connect(any_database.dsn("reader"))
    try:
        where = f"f.derivation_id = 1 and f.position <= 99 and {condition}"
        statement = newest_facts(where, 1, indexed=True)
        plan = await reader.fetchval(f"explain (format json) {statement.text}")
        parents = dict(await reader.fetch(PARENTS))
        of_day = {name for (name,) in await reader.fetch(INDICES)}
    finally:
        await reader.close()

    nodes = list(walked(orjson.loads(plan)[0]["Plan"]))
    used = {node.get("Index Name") for node in nodes} & of_day
    assert {parents[name] for name in used} == {index}


async def test_a_node_before_is_looked_for_by_its_object_in_a_long_log(
    any_server: DatabaseServer,
) -> None:
    async with filled(any_server) as database:
        owner = await asyncpg.connect(database.dsn("owner"))
        await owner.execute(MONTHS)
        await owner.close()
        reader = await connect(
            database.dsn("reader"), plans="force_generic_plan"
        )
        try:
            plan = await _generic_plan(reader, NEWEST)
            parents = dict(await reader.fetch(PARENTS))
        finally:
            await reader.close()

    nodes = list(walked(orjson.loads(plan)[0]["Plan"]))
    used = {node["Index Name"] for node in nodes if "Index Name" in node}
    assert {
        parent
        for name in used
        if (parent := parents.get(name, name)).startswith("entry_by")
    } == {"entry_by_object"}


async def _generic_plan(
    reader: asyncpg.Connection, statement: Statement
) -> str:
    """Return the plan that a connection keeps, as JSON."""
    types = ", ".join(TYPES[name] for name in statement.names)
    await reader.execute(f"prepare asked ({types}) as {statement.text}")
    nothing = ", ".join("null" for _ in statement.names)
    plan: str = await reader.fetchval(
        f"explain (format json) execute asked ({nothing})"
    )
    return plan


async def _filled(database: Database) -> None:
    """Write a Node with a changed label, and many facts of its day."""
    node = a_node("n", 1)
    labelled = a_node("n", 2)
    labelled["metadata"] |= {"labels": {"pool": "p"}}
    writer = Writer(database.dsn("writer"), SPEC, holder="a")
    batch = Observer(await writer.take_lease()).batch(
        a_list(NODES, 1, node, when=0), a_frame(NODES, "MODIFIED", labelled)
    )
    await Deriver(writer).derive(batch)
    await writer.append(batch)
    await writer.close()
    async with connected(database.superuser_dsn()) as owner:
        await owner.execute(MANY)
        await owner.execute("analyze recorder.fact")
