"""A superuser who edits facts with the triggers off is found out.

Facts are what answers are made from, and no hash covers them: they are
derived again from the entries, which are hashed.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from random import Random

import asyncpg
import pytest

from recorder.integrity.verified import FactsMode, Verified
from recorder.keeping.verifying import Proving, Verifying
from recorder.keeping.verifying_database import verify_over
from recorder.store.long_work import connect_to
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer
from tests.tampering.story import record, the_log

SEEDS = range(2)
SOME = """
    (select ctid from (
      select f.ctid, row_number() over (order by position, index) as place,
        count(*) over () as count
      from recorder.fact f join recorder.derivation d using (derivation_id)
      where d.log_id = 1 and {where}) f
    where place = 1 + {random} % count)
"""
"""Any fact of log 1 that meets a condition."""

EDITS = {
    "another actor": (
        "actor_id is not null",
        (
            "actor_id = (select min(word_id) from recorder.word w"
            " where w.word_id <> f.actor_id)"
        ),
    ),
    "no actor": ("actor_id is not null", "actor_id = null"),
    "another node": (
        "node_id is not null",
        (
            "node_id = (select min(node_id) from recorder.node n"
            " where n.log_id = 1 and n.node_id <> f.node_id)"
        ),
    ),
    "a node of the other log": (
        "node_id is not null",
        (
            "node_id = (select min(node_id) from recorder.node n"
            " where n.log_id = 2)"
        ),
    ),
    "another object": (
        "object_id is not null",
        (
            "object_id = (select min(object_id) from recorder.object o"
            " where o.log_id = 1 and o.object_id <> f.object_id)"
        ),
    ),
    "no owner": ("owner_id is not null", "owner_id = null"),
    "another topic": (
        "topic_id is not null",
        (
            "topic_id = (select min(word_id) from recorder.word w"
            " where w.word_id <> f.topic_id)"
        ),
    ),
    "another time": ("true", "at = at + interval '1 hour'"),
    "a time of observation": ("true", "observed_at = at - interval '1 s'"),
    "another kind": ("kind <> 7", "kind = 7"),
    "a kind that there is not": ("true", "kind = 99"),
    "another bearing": ("true", "bearing = (bearing + 1) % 4"),
    "another mark": ("true", "mark = coalesce(mark, 0) + 1"),
    "a value": ("true", "value = coalesce(value, '') || 'x'"),
    "a place": ("place is not null", "place = null"),
    "labels": ("labels is not null", "labels = labels[2:]"),
    "owners": ("owners is not null", "owners = array['x']"),
    "its detail": (
        "detail <> '\\x007b7d'",
        "detail = convert_to('x{}', 'UTF8')",
    ),
    "another place among those of its entry": ("true", "index = index + 1"),
    "another entry": ("true", "position = position + 1"),
}
"""Which facts, and what is made of one."""

REMOVED = "delete from recorder.fact where ctid = " + SOME
ADDED = (
    """
    insert into recorder.fact
    select (jsonb_populate_record(f, jsonb_build_object({}))).*
    from recorder.fact f where ctid =
"""
    + SOME
)
NAMES = {
    "a word that only facts name": """
        update recorder.word set text = 'bob' where word_id = (
          select min(actor_id) from recorder.fact f
          where not exists (select from recorder.entry e
            where f.actor_id in (e.actor_id, e.reason_id)))
    """,
}
TABLES = ("fact", "word", "object", "entry", "dictionary")


@pytest.fixture(scope="module")
def log(embedded_server: DatabaseServer) -> Iterator[Database]:
    with filled_database(embedded_server, record) as database:
        yield database


@asynccontextmanager
async def superuser(log: Database) -> AsyncIterator[asyncpg.Connection]:
    """A session whose edits are rolled back."""
    connection = await connect_to(log.superuser_dsn())
    change = connection.transaction()
    await change.start()
    try:
        for table in TABLES:
            await connection.execute(
                f"alter table recorder.{table} disable trigger all"
            )
        yield connection
    finally:
        await change.rollback()
        await connection.close()


async def verified(
    connection: asyncpg.Connection, how: Proving | None = None
) -> Verified:
    verifying = Verifying(facts=how or Proving())
    return await verify_over(
        connection, the_log(1), verifying, asyncio.Event()
    )


def some(where: str, seed: str | int) -> dict[str, object]:
    return {"where": where, "random": Random(seed).randrange(1 << 30)}


@pytest.mark.parametrize("mode", ["all", "sample"])
async def test_facts_are_those_of_the_entries(
    log: Database, mode: FactsMode
) -> None:
    async with superuser(log) as connection:
        found = await verified(connection, Proving(mode=mode))
        facts = await connection.fetchval(
            "select count(*) from recorder.fact f"
            " join recorder.derivation using (derivation_id)"
            " where log_id = 1"
        )
    assert found.problems == []
    assert found.derived is not None
    assert found.derived.not_compared == []
    assert (found.derived.entries, found.derived.facts) == (found.size, facts)
    assert facts > 100


@pytest.mark.parametrize("edit", EDITS)
async def test_an_edited_fact_is_found_and_named(
    log: Database, edit: str
) -> None:
    where, change = EDITS[edit]
    for seed in SEEDS:
        async with superuser(log) as connection:
            chosen = SOME.format(**some(where, f"{edit}/{seed}"))
            position, kind = await connection.fetchrow(
                "select position, kind from recorder.fact"
                f" where ctid = {chosen}"
            )
            done = await connection.execute(
                f"update recorder.fact f set {change} where ctid = {chosen}"
            )
            assert done == "UPDATE 1"
            found = await verified(connection)
        named = {
            (problem.position, problem.kind.partition("-")[0])
            for problem in found.problems
        }
        assert (position, "fact") in named, f"seed {seed}: {kind}"


async def test_a_removed_fact_is_found_and_named(log: Database) -> None:
    for seed in SEEDS:
        async with superuser(log) as connection:
            position = await connection.fetchval(
                f"{REMOVED.format(**some('true', seed))} returning position"
            )
            found = await verified(connection)
        assert [(one.kind, one.position) for one in found.problems] == [
            ("fact-missing", position)
        ]


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ("'index', 90", "fact-added"),
        ("'index', f.index", "fact-added"),
        ("'recorded_at', f.recorded_at + interval '1 us'", "fact-added"),
        ("'position', 100000", "fact-stray"),
        ("'position', 0", "fact-stray"),
    ],
)
async def test_an_added_fact_is_found_and_named(
    log: Database, changed: str, kind: str
) -> None:
    async with superuser(log) as connection:
        statement = ADDED.replace("{}", changed).format(**some("true", 1))
        position = await connection.fetchval(f"{statement} returning position")
        found = await verified(connection)
    assert [(one.kind, one.position) for one in found.problems] == [
        (kind, position)
    ]


@pytest.mark.parametrize("name", NAMES)
async def test_a_name_that_facts_refer_to_is_found(
    log: Database, name: str
) -> None:
    async with superuser(log) as connection:
        assert await connection.execute(NAMES[name]) == "UPDATE 1"
        found = await verified(connection)
    assert {problem.kind for problem in found.problems} == {"fact-altered"}


async def test_an_edited_dictionary_of_facts_is_found(log: Database) -> None:
    async with superuser(log) as connection:
        await connection.execute(
            "update recorder.dictionary set bytes = bytes || 'x',"
            " sha256 = sha256(bytes || 'x') where dictionary_id = ("
            " select get_byte(detail, 0) - 1 from recorder.fact"
            " where get_byte(detail, 0) > 0 limit 1)"
        )
        found = await verified(connection)
    assert "fact-altered" in {problem.kind for problem in found.problems}


async def test_a_dictionary_that_is_none_is_found(log: Database) -> None:
    async with superuser(log) as connection:
        await connection.execute(
            "update recorder.dictionary set bytes = 'x', sha256 = sha256('x')"
            " where dictionary_id = (select encoding - 16 from recorder.entry"
            " where log_id = 1 and encoding >= 16 limit 1)"
        )
        found = await verified(connection)
    assert "entry-unreadable" in {problem.kind for problem in found.problems}
    assert not found.is_compared


async def test_facts_of_other_rules_are_not_compared(log: Database) -> None:
    async with superuser(log) as connection:
        await connection.execute("update recorder.derivation set rules = 6")
        await connection.execute("update recorder.fact set actor_id = null")
        found = await verified(connection)
    assert found.problems == []
    assert found.derived is not None
    (why,) = found.derived.not_compared
    assert why.startswith("rules 6 derived the facts")
    assert (found.is_compared, found.derived.facts) == (False, 0)
