"""Dropping days: what goes, what stays, and who keeps it from going."""

from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from recorder.archive.errors import ArchiveError
from recorder.keeping.retaining import Retained, Retaining, retain
from recorder.keeping.retention.policy import Policy
from recorder.store.writer import Writer
from tests.contract.test_log import SPEC, Observer
from tests.support.builders import PODS, a_frame, an_object
from tests.support.days import (
    asked,
    noon,
    owner,
    set_clock,
    write_days,
    write_events,
    write_metrics,
)
from tests.support.postgres import Database

__all__ = ["DROPPED", "run"]

DROPPED = "select count(*) from recorder.partition where state = 'dropped'"


async def run(database: Database, place: Path, **more: object) -> Retained:
    """Make one run with a policy."""
    policy = Policy(place=str(place), **more)  # type: ignore[arg-type]
    return await retain(database.dsn("retention"), Retaining(policy=policy))


async def test_days_older_than_the_policy_says_are_dropped(
    any_database: Database, tmp_path: Path
) -> None:
    await write_days(any_database)

    done = await run(any_database, tmp_path)

    assert [one.why for one in done.dropped] == ["age", "age"]
    assert len(done.archived) >= 4
    assert await asked(any_database, DROPPED) == 2
    tables = await asked(
        any_database,
        "select array_agg(relname::text) from pg_class c join pg_inherits i"
        " on i.inhrelid = c.oid where relname like 'entry_%'",
    )
    assert "entry_kept" in str(tables)
    assert done.batches > 0
    assert done.names == 1, "a Pod that came and went"

    again = await run(any_database, tmp_path)
    assert (again.dropped, again.archived) == ([], [])


async def test_what_is_alive_is_carried_forward(
    any_database: Database, tmp_path: Path
) -> None:
    await write_days(any_database)
    await run(any_database, tmp_path)

    kept = await asked(
        any_database,
        "select array_agg(o.name || ' ' || e.operation order by e.position)"
        " from recorder.entry_kept e"
        " left join recorder.object o using (object_id)",
    )
    # The newest version of each that lives, and the document it is a delta of.
    names = [one.split()[0] for one in kept]  # type: ignore[attr-defined]
    assert set(names) == {"stays", "gpu-001", "day-1"}
    assert names.count("stays") == 2
    facts = await asked(
        any_database, "select count(*) from recorder.fact_kept"
    )
    assert isinstance(facts, int)
    assert facts > 0


async def test_facts_of_what_is_gone_go_with_their_day(
    database: Database, tmp_path: Path
) -> None:
    """Of a Pod that is gone, and of a claim, by which it was recognized."""
    await write_metrics(database, 11)
    await write_days(database)
    posted = (
        "select o.uid from recorder.object o where o.uid ~ '^[0-9a-f]{64}$'"
    )
    key = str(await asked(database, posted))
    writer = Writer(database.dsn("writer"), SPEC, holder="b")
    await writer.take_lease()
    assert await writer.claims([key]) == [key]
    count = (
        "select count(*) from recorder.fact f"
        " join recorder.object o using (object_id) where o.name = 'day-0'"
    )
    before = await asked(database, count)

    done = await run(database, tmp_path)

    assert len(done.dropped) == 3
    assert before, "it came and went"
    # Its end was recorded on the second day, which is dropped too.
    assert await asked(database, count) == 0
    assert await writer.claims([key]) == []
    await writer.close()


async def test_the_writer_goes_on_over_dropped_days(
    database: Database, tmp_path: Path
) -> None:
    """With numbers of names that may have been removed."""
    await write_days(database)
    writer = Writer(database.dsn("writer"), SPEC, holder="b")
    recovered = await writer.take_lease()
    assert any(head.identity.name == "stays" for head in recovered.heads)
    teller = Observer(recovered)
    await writer.append(
        teller.batch(a_frame(PODS, "DELETED", an_object("day-3", 900)))
    )
    await run(database, tmp_path)
    await writer.append(
        teller.batch(
            # Its number was remembered, and removed as nothing refers to it.
            a_frame(PODS, "ADDED", an_object("day-0", 901)),
            a_frame(PODS, "MODIFIED", an_object("stays", 902)),
        )
    )
    positions = [head.position for head in recovered.heads]
    documents = await writer.documents(positions)
    assert documents.keys() >= {
        head.position
        for head in recovered.heads
        if head.identity.name in {"stays", "gpu-001"}
    }
    await writer.close()
    dangling = await asked(
        database,
        "select count(*) from recorder.entry e where object_id is not null"
        " and not exists (select from recorder.object o"
        " where o.object_id = e.object_id)",
    )
    assert dangling == 0


async def test_a_hold_keeps_a_day_and_those_behind_it(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    async with owner(database) as connection:
        await connection.execute(
            "insert into recorder.hold (log_id, since, until, who, why)"
            " values (1, now() - interval '200 years',"
            " now() + interval '1 day', 'ann', 'an audit')"
        )
    done = await run(database, tmp_path)
    assert done.dropped == []
    assert done.stopped_by is not None
    assert "hold 1" in done.stopped_by
    assert len(done.archived) >= 4

    async with owner(database) as connection:
        await connection.execute(
            "insert into recorder.hold_lifted values (1, 'ann', 'it is over')"
        )
    assert len((await run(database, tmp_path)).dropped) == 2


async def test_a_hold_on_a_node_keeps_days_that_have_it(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    async with owner(database) as connection:
        await connection.execute(
            "insert into recorder.hold (log_id, node, who, why)"
            " values (1, 'gpu-009', 'ann', 'another')"
        )
        assert len((await run(database, tmp_path)).dropped) == 2
        await connection.execute(
            "insert into recorder.hold (log_id, node, who, why)"
            " values (1, 'gpu-001', 'ann', 'this one')"
        )
    done = await run(database, tmp_path, hot=timedelta(days=1))
    assert done.dropped == []
    assert "hold 2" in str(done.stopped_by)


async def test_a_day_of_which_the_archive_is_gone_is_not_dropped(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await run(database, tmp_path, hot=timedelta(days=300))
    sorted_manifests(tmp_path)[0].unlink()

    with pytest.raises(ArchiveError, match="no manifest"):
        await run(database, tmp_path)
    assert await asked(database, DROPPED) == 0


async def test_a_day_of_which_the_archive_rotted_is_not_dropped(
    database: Database, tmp_path: Path
) -> None:
    """In a week a disk may lose a bit that was verified."""
    await write_days(database)
    await run(database, tmp_path, hot=timedelta(days=300))
    file = sorted_manifests(tmp_path)[0].with_name("entries-00000.parquet")
    whole = file.read_bytes()
    file.write_bytes(whole[:-200] + bytes([whole[-200] ^ 1]) + whole[-199:])

    with pytest.raises(ArchiveError, match=f"{file}.* restore it"):
        await run(database, tmp_path)
    assert await asked(database, DROPPED) == 0

    file.write_bytes(whole)
    assert len((await run(database, tmp_path)).dropped) == 2


def sorted_manifests(place: Path) -> list[Path]:
    return sorted(place.rglob("manifest.json"))


async def test_a_day_that_is_edited_is_not_dropped_and_the_others_are_kept(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    async with owner(database) as connection:
        await connection.execute(
            "alter table recorder.entry disable trigger all;"
            "update recorder.entry set payload = 'x' where position = 2"
        )
    with pytest.raises(Exception, match="batch 2 of log 1"):
        await run(database, tmp_path)
    assert await asked(database, DROPPED) == 0
    assert len(sorted_manifests(tmp_path)) == 3


async def test_without_an_archive_days_go_only_if_the_policy_says_so(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    keeping = Retaining(policy=Policy(place=None))
    done = await retain(database.dsn("retention"), keeping)
    assert done.dropped == []
    assert "not archived" in str(done.stopped_by)

    dropping = Retaining(policy=Policy(place=None, unarchived="drop"))
    done = await retain(database.dsn("retention"), dropping)
    assert len(done.dropped) == 2
    assert sorted_manifests(tmp_path) == []


async def test_two_runs_at_once_do_no_harm(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    other = await asyncpg.connect(database.dsn("retention"))
    await other.fetchval(
        "select pg_advisory_lock(hashtext('recorder.keeping.retention'))"
    )
    assert (await run(database, tmp_path)).busy
    await other.close()
    assert not (await run(database, tmp_path)).busy


async def test_a_clock_set_back_does_not_reopen_a_day(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    await run(database, tmp_path)
    await set_clock(database, noon(9) - noon(0))
    writer = Writer(database.dsn("writer"), SPEC, holder="late")
    teller = Observer(await writer.take_lease())
    await writer.append(
        teller.batch(a_frame(PODS, "ADDED", an_object("late", 990)))
    )
    await writer.close()

    at = await asked(database, "select recorded_at from recorder.log_head")
    sealed = await asked(
        database, "select sealed_until from recorder.log_head"
    )
    assert at == sealed


async def test_the_size_budget_drops_days_before_their_time(
    database: Database, tmp_path: Path
) -> None:
    await write_days(database)
    done = await run(database, tmp_path, hot=timedelta(days=300), budget=1)
    assert {one.why for one in done.dropped} == {"size budget"}
    assert len(done.dropped) >= 4


DAY = "from recorder.partition where lower < now() order by lower"
FUTURE = "from recorder.partition where upper > now()"
OUT_OF_TURN = (
    f"select recorder.drop_partition(name, 'keep') {DAY} limit 1",
    f"select recorder.build_kept(name, 'keep', '{{}}') {DAY} desc limit 1",
    f"select recorder.archive_partition(name) {DAY} limit 1",
    f"select recorder.seal_partition(name) {FUTURE} limit 1",
)


@pytest.mark.parametrize("statement", OUT_OF_TURN)
async def test_the_database_refuses_a_step_out_of_turn(
    database: Database, statement: str
) -> None:
    await write_days(database)
    connection = await asyncpg.connect(database.dsn("retention"))
    with pytest.raises(asyncpg.RaiseError, match="refused"):
        await connection.execute(statement)
    await connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "delete from recorder.batch",
        "delete from recorder.object",
        "delete from recorder.node",
        "delete from recorder.hold",
        "update recorder.partition set state = 'archived'",
        "insert into recorder.archived_day default values",
        "insert into recorder.notice (log_id, document) values (1, '')",
        "drop table recorder.entry",
    ],
)
async def test_retention_does_nothing_but_by_its_functions(
    database: Database, statement: str
) -> None:
    await write_days(database, 1)
    connection = await asyncpg.connect(database.dsn("retention"))
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await connection.execute(statement)
    await connection.close()


async def test_a_name_that_is_referred_to_stays_for_every_reader(
    database: Database,
) -> None:
    await write_days(database, 1)
    await write_events(database, "Kept", 9)
    async with owner(database) as connection:
        await connection.execute("set recorder.pruning = 'on'")
        for table in ("object", "node", "batch", "word"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(f"delete from recorder.{table}")
