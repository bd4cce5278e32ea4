"""Every question goes through the index that was made for it.

Names of indices are those of the partitioned table; each partition has its
own, which are traced back to it.
"""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import orjson
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.answers.nouns import Part, Selection
from recorder.model.entry import Operation
from recorder.store.engine import connect, make_engine
from recorder.store.read_gaps import own_entries_statement
from recorder.store.read_objects import THINGS, TWINS
from recorder.store.read_scan import (
    Asked,
    Scan,
    newest_statement,
    page_statement,
    positions_statement,
)
from recorder.store.read_selection import find_conditions
from recorder.store.read_span import find_span
from tests.support.many import DAYS, PER_DAY, filled
from tests.support.postgres import DatabaseServer

MONDAY = datetime(2026, 11, 10, tzinfo=UTC)
SIZE = DAYS * PER_DAY

PARENTS = """
    select child.relname, parent.relname
    from pg_inherits i join pg_class child on child.oid = i.inhrelid
    join pg_class parent on parent.oid = i.inhparent
    where child.relkind = 'i'
"""


class Plans:
    """Explains queries of a filled log."""

    def __init__(
        self, engine: AsyncEngine, connection: asyncpg.Connection
    ) -> None:
        self._engine = engine
        self._connection = connection

    async def scan(self, selection: Selection) -> Scan:
        conditions = await find_conditions(self._engine, 1, selection)
        span = await find_span(
            self._engine,
            1,
            (1, SIZE),
            since=selection.since,
            until=selection.until,
        )
        assert conditions is not None
        assert span is not None
        return Scan(span, conditions)

    async def nodes(self, query: Asked) -> list[dict[str, Any]]:
        statement, values = query
        text = await self._connection.fetchval(
            f"explain (format json) {statement.text}",
            *statement.values(values),
        )
        print(text)
        return list(walked(orjson.loads(text)[0]["Plan"]))

    async def kept(self, query: Asked) -> list[dict[str, Any]]:
        """Return the plan that is kept for whatever values."""
        statement, _ = query
        given = ", ".join(["null"] * len(statement.names))
        async with self._connection.transaction():
            await self._connection.execute(
                "set local plan_cache_mode = force_generic_plan;"
                f" prepare asked as {statement.text}"
            )
            text = await self._connection.fetchval(
                f"explain (format json) execute asked ({given})"
            )
            await self._connection.execute("deallocate asked")
        return list(walked(orjson.loads(text)[0]["Plan"]))

    async def indices(self, query: Asked) -> set[str]:
        parents = dict(await self._connection.fetch(PARENTS))
        return {
            parents.get(node["Index Name"], node["Index Name"])
            for node in await self.nodes(query)
            if "Index Name" in node
        }


def walked(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from walked(below)


def seq_scans(nodes: list[dict[str, Any]]) -> set[str]:
    return {
        node["Relation Name"]
        for node in nodes
        if node["Node Type"] == "Seq Scan"
        and node["Relation Name"].startswith(("entry_", "object", "batch"))
    }


@pytest.fixture
async def plans(any_server: DatabaseServer) -> AsyncIterator[Plans]:
    async with filled(any_server) as database:
        engine = make_engine(database.dsn("reader"))
        connection = await connect(database.dsn("reader"))
        yield Plans(engine, connection)
        await connection.close()
        await engine.dispose()


async def test_a_page_of_the_log_goes_by_position(plans: Plans) -> None:
    query = page_statement(
        await plans.scan(Selection()), limit=1000, parts=Part.LISTED
    )

    assert "entry_by_position" in await plans.indices(query)
    assert not seq_scans(await plans.nodes(query))


@pytest.mark.parametrize("selection", [Selection(),
                                       Selection(since=MONDAY)])  # fmt: skip
async def test_a_page_of_all_goes_by_position_whatever_the_values(
    plans: Plans, selection: Selection
) -> None:
    """Its plan is made once for a day, and for no other."""
    day = (await plans.scan(selection)).parts()[1]

    for statement in (
        page_statement(day, limit=100, parts=Part.LISTED),
        positions_statement(day, 100),
    ):
        nodes = await plans.kept(statement)
        touched = {
            node["Relation Name"]
            for node in nodes
            if node.get("Relation Name", "").startswith("entry_")
        }
        assert touched == {"entry_20261111"}
        assert not seq_scans(nodes)
        (page,) = [node for node in nodes if node["Node Type"] == "Limit"]
        assert page["Plans"][0]["Node Type"].startswith("Index ")


async def test_a_node_goes_by_node(plans: Plans) -> None:
    selection = Selection(node="node-7")
    query = page_statement(
        await plans.scan(selection), limit=100, parts=Part.OPENED
    )

    assert "entry_by_node" in await plans.indices(query)


async def test_an_object_goes_by_object(plans: Plans) -> None:
    selection = Selection(objects=(77,))
    query = page_statement(
        await plans.scan(selection), limit=100, parts=Part.OPENED
    )

    assert "entry_by_object" in await plans.indices(query)
    assert "entry_by_position" not in await plans.indices(query)


async def test_the_newest_version_goes_by_object(plans: Plans) -> None:
    selection = Selection(
        objects=(77,), versions=True, until=MONDAY + timedelta(days=3)
    )
    query = newest_statement(await plans.scan(selection))

    assert await plans.indices(query) == {"entry_by_object"}


@pytest.mark.parametrize("operation", [Operation.GAP_CLOSED,
                                       Operation.CLOCK_JUMPED])  # fmt: skip
async def test_gaps_go_by_gap(plans: Plans, operation: Operation) -> None:
    query = own_entries_statement(
        (await plans.scan(Selection())).span, operation
    )

    assert "entry_by_gap" in await plans.indices(query)
    assert not seq_scans(await plans.nodes(query))


async def test_a_name_goes_by_name(plans: Plans) -> None:
    asked = {"log": 1, "kinds": [1], "namespace": "train", "name": "pod-77"}
    query = (THINGS, asked)

    assert "object_by_name" in await plans.indices(query)
    assert "object" not in seq_scans(await plans.nodes(query))


async def test_the_same_object_by_another_kind_goes_by_uid(
    plans: Plans,
) -> None:
    asked = {
        "log": 1,
        "uids": ["uid-77"],
        "groups": ["batch"],
        "name": "pod-77",
    }
    query = (TWINS, asked)

    assert "object_by_uid" in await plans.indices(query)
    assert "object" not in seq_scans(await plans.nodes(query))


@pytest.mark.parametrize(
    "selection",
    [
        Selection(),
        Selection(node="node-7"),
        Selection(objects=(77,)),
        Selection(reason="word-7"),
    ],
)
async def test_a_window_touches_only_its_own_days(
    plans: Plans, selection: Selection
) -> None:
    tuesday = MONDAY + timedelta(days=1)
    windowed = Selection(
        node=selection.node,
        objects=selection.objects,
        reason=selection.reason,
        since=tuesday + timedelta(hours=1),
        until=tuesday + timedelta(hours=2),
    )
    query = page_statement(
        await plans.scan(windowed), limit=100, parts=Part.OPENED
    )

    touched = {
        node["Relation Name"]
        for node in await plans.nodes(query)
        if node.get("Relation Name", "").startswith("entry_")
    }
    assert touched <= {"entry_20261111"}


@pytest.mark.parametrize(
    "selection", [Selection(), Selection(reason="word-7"),
                  Selection(source="watch")],
)  # fmt: skip
async def test_what_no_index_leads_to_is_looked_for_day_by_day(
    plans: Plans, selection: Selection
) -> None:
    touched = [
        {
            node["Relation Name"]
            for node in await plans.nodes(positions_statement(part, 100))
            if node.get("Relation Name", "").startswith("entry_")
        }
        for part in (await plans.scan(selection)).parts()
    ]

    assert touched == [{f"entry_202611{10 + day}"} for day in range(DAYS)]


@pytest.mark.parametrize(
    "selection", [Selection(node="node-7"), Selection(objects=(77,))]
)
async def test_what_an_index_leads_to_is_looked_for_at_once(
    plans: Plans, selection: Selection
) -> None:
    scan = await plans.scan(selection)

    assert scan.parts() == [scan]


@pytest.mark.parametrize(
    ("selection", "index"),
    [
        (Selection(node="node-7"), "entry_by_node"),
        (Selection(objects=(77,)), "entry_by_object"),
    ],
)
async def test_the_newest_of_few_are_not_walked_to(
    plans: Plans, selection: Selection, index: str
) -> None:
    for part in (await plans.scan(selection)).newest_first():
        query = positions_statement(part, 1)
        assert await plans.indices(query) == {index}
        assert not seq_scans(await plans.nodes(query))


async def test_found_entries_go_by_position(plans: Plans) -> None:
    found = (await plans.scan(Selection(reason="word-7"))).of([6, 26, 29_986])
    query = page_statement(found, limit=100, parts=Part.LISTED)

    assert "entry_by_position" in await plans.indices(query)
    assert not seq_scans(await plans.nodes(query))


@pytest.mark.parametrize(
    "selection", [Selection(reason="word-7"), Selection(source="audit")]
)
async def test_what_is_walked_through_is_not_walked_backwards(
    plans: Plans, selection: Selection
) -> None:
    *_, last = (await plans.scan(selection)).parts()
    nodes = await plans.nodes(positions_statement(last, 10))

    assert not [n for n in nodes if n.get("Scan Direction") == "Backward"]


async def test_the_newest_of_all_are_found_from_the_end(plans: Plans) -> None:
    *_, last = (await plans.scan(Selection())).parts()
    nodes = await plans.nodes(positions_statement(last, 10))

    assert [n for n in nodes if n.get("Scan Direction") == "Backward"]
