"""What goes before its day: only that, provably, and each rule once."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import asyncpg
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
)

from recorder.admin.archiving_day import AlteredError
from recorder.admin.checkpointing import make_checkpoint
from recorder.admin.proving import UnprovenError, prove
from recorder.admin.retaining import Retained, Retaining, retain
from recorder.admin.verifying import Verifying, verify
from recorder.archive.errors import ArchiveError
from recorder.integrity.proof import check_proof
from recorder.integrity.verified import Verified
from recorder.model.reference import EntryName
from recorder.retention.policy import Policy, Rule
from recorder.store.long_work import connect_to
from tests.conftest import migrated
from tests.retention.test_dropping import sorted_manifests
from tests.support.builders import at
from tests.support.days import (
    asked,
    owner,
    write_days,
    write_statements,
)
from tests.support.fact_rows import current_facts, derive_anew
from tests.support.postgres import (
    Database,
    DatabaseServer,
    fresh_database,
    make_template,
)
from tests.tampering.story import the_log

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key().public_bytes_raw()
LONG = timedelta(days=300)

ALL = (
    Rule(name="Event", days=3),
    Rule(name="Lease", days=1),
    Rule(name="audit", days=2),
)


@pytest.fixture(scope="module")
def filled(embedded_server: DatabaseServer) -> DatabaseServer:
    """A log of four days, and statements five and two days ago."""

    async def prepare(database: Database) -> None:
        await migrated(database)
        await write_days(database)
        await write_statements(database, 5)
        await write_statements(database, 2)

    asyncio.run(make_template(embedded_server, "statements", prepare))
    return embedded_server


@pytest.fixture
async def log(filled: DatabaseServer) -> AsyncIterator[Database]:
    async with fresh_database(filled, "statements") as database:
        yield database


async def run(database: Database, to: Path, /, **more: object) -> Retained:
    given = {"place": str(to), "hot": LONG, "shorter": ALL, **more}
    policy = Policy(**given)  # type: ignore[arg-type]
    return await retain(database.dsn("retention"), Retaining(policy=policy))


async def verified(database: Database) -> Verified:
    return await verify(
        database.dsn("writer"), the_log(1), Verifying(), asyncio.Event()
    )


STATEMENTS = """
    select coalesce(array_agg(case e.operation when 10 then 'audit'
        when 6 then 'Lease' else k.name end || coalesce('/' || w.text, '')
      order by e.position), '{}')
    from recorder.entry e
    left join recorder.word w on w.word_id = e.reason_id
    left join recorder.object o on o.object_id = e.object_id
    left join recorder.kind k on k.kind_id = o.kind_id
    where (e.recorded_at at time zone 'UTC')::date
      = (now() at time zone 'UTC')::date - $1::int
"""


async def there(database: Database, ago: int) -> list[str]:
    """Return what is there of the statements of a day."""
    return await asked(database, STATEMENTS, ago)  # type: ignore[return-value]


async def test_only_what_a_rule_names_goes_and_only_when_it_is_old(
    any_database: Database, tmp_path: Path
) -> None:
    await write_statements(any_database, 5)
    await write_statements(any_database, 2)
    rules = (
        Rule(name="Event", reason="Pulled", days=1),
        Rule(name="Lease", days=1),
        Rule(name="audit", reason="get", days=4),
    )
    before = await there(any_database, 5)

    done = await run(any_database, tmp_path, shorter=rules)

    assert len(before) == 6
    gone = {"Pod/Pulled", "Lease", "audit/get"}
    assert await there(any_database, 5) == [o for o in before if o not in gone]
    assert "audit/get" in await there(any_database, 2)
    assert [one.entries for one in done.thinned] == [3, 2]
    assert done.thinned[0].by_rule == {
        "Event/Pulled=1": 1,
        "Lease=1": 1,
        "audit/get=4": 1,
    }
    again = await run(any_database, tmp_path, shorter=rules)
    assert again.thinned == []
    more = (*rules, Rule(name="Event", days=2))
    later = await run(any_database, tmp_path, shorter=more)
    assert [one.by_rule for one in later.thinned] == [{"Event=2": 1}]
    found = await verified(any_database)
    assert (found.problems, found.unrecorded) == ([], 3)


async def test_facts_go_with_their_entries_and_are_derived_again_without(
    log: Database, tmp_path: Path
) -> None:
    before = await current_facts(log)
    await run(log, tmp_path)
    left = {
        row["position"]
        for row in await rows(log, "select position from recorder.entry")
    }

    after = await current_facts(log)

    assert after == [fact for fact in before if fact[3] in left] != before
    await derive_anew(log)
    assert await current_facts(log) == after


async def rows(database: Database, query: str) -> Sequence[asyncpg.Record]:
    async with owner(database) as connection:
        found: Sequence[asyncpg.Record] = await connection.fetch(query)
        return found


async def test_what_went_and_what_stays_is_proven_as_before(
    log: Database, tmp_path: Path
) -> None:
    first = "select first_position from recorder.batch order by batch desc"
    connection = await connect_to(log.dsn("writer"))
    try:
        await make_checkpoint(connection, 1, KEY, [], at(0))
        event: int = await connection.fetchval(first + " offset 1 limit 1")
        names = [EntryName(1, event), EntryName(1, event + 1)]
        before = [await prove(connection, name) for name in names]
        await run(log, tmp_path)
        gone = "select count(*) from recorder.entry where position = $1"
        assert await connection.fetchval(gone, event) == 0
        assert await connection.fetchval(gone, event + 1) == 1

        after = [await prove(connection, name) for name in names]
    finally:
        await connection.close()
    assert after == before
    for proof in after:
        check_proof(msgspec.json.encode(proof), [PUBLIC])


async def test_what_went_without_an_archive_is_proven_no_more(
    log: Database, tmp_path: Path
) -> None:
    await run(log, tmp_path, place=None, unarchived="drop")
    connection = await connect_to(log.dsn("writer"))
    try:
        await make_checkpoint(connection, 1, KEY, [], at(0))
        (run_,) = await connection.fetch(
            "select b.first_position + t.offsets[1] from recorder.thinned t"
            " join recorder.batch b using (log_id, batch)"
            " order by t.batch limit 1"
        )
        with pytest.raises(UnprovenError, match="retention_shorter"):
            await prove(connection, EntryName(1, run_[0]))
    finally:
        await connection.close()
    assert (await verified(log)).problems == []


async def test_a_day_that_was_edited_stays_whole(
    log: Database, tmp_path: Path
) -> None:
    await run(log, tmp_path, shorter=())
    async with owner(log) as connection:
        await connection.execute(
            "alter table recorder.entry disable trigger all;"
            "update recorder.entry set occurred_at = now()"
            " where position = (select max(position) from recorder.entry"
            " where operation = 6)"
        )
    with pytest.raises(AlteredError, match="not what was recorded"):
        await run(log, tmp_path)
    assert len(await there(log, 5)) < 6
    assert len(await there(log, 2)) == 6


async def test_a_day_of_which_the_archive_is_gone_stays_whole(
    log: Database, tmp_path: Path
) -> None:
    await run(log, tmp_path, shorter=())
    for manifest in sorted_manifests(tmp_path):
        manifest.unlink()

    with pytest.raises(ArchiveError, match="no manifest"):
        await run(log, tmp_path)
    assert len(await there(log, 5)) == 6


async def test_holds_and_evidence_of_what_goes_on_keep_entries(
    log: Database, tmp_path: Path
) -> None:
    async with owner(log) as connection:
        await connection.execute(
            "insert into recorder.hold (log_id, since, until, who, why)"
            " values (1, now() - interval '3 days', now(), 'ann', 'a claim')"
        )
        await connection.execute(
            "update recorder.object_head set ready = false where ready"
        )
    await run(log, tmp_path)

    assert len(await there(log, 2)) == 6
    assert "Lease" in await there(log, 5)
    assert not any(o.startswith("audit") for o in await there(log, 5))


async def test_kinds_that_stay_longer_keep_their_statements(
    log: Database, tmp_path: Path
) -> None:
    await run(log, tmp_path, longer={"Lease": 400})

    assert "Lease" in await there(log, 5)
    assert not any(o.startswith("audit") for o in await there(log, 5))


async def test_a_day_that_was_thinned_out_is_dropped_as_any(
    log: Database, tmp_path: Path
) -> None:
    await run(log, tmp_path)
    done = await run(log, tmp_path, hot=timedelta(days=1), shorter=())

    assert done.stopped_by is None
    assert await there(log, 5) == ["Pod"]
    left = "select count(*) from recorder.thinned join recorder.log_head h"
    assert (
        await asked(
            log, f"{left} using (log_id) where batch <= h.pruned_batches"
        )
        == 0
    )
    found = await verified(log)
    assert (found.problems, found.unrecorded) == ([], 2)


BEGIN = "select recorder.begin_thinning(name, 'keep', $1)"
OUT_OF_TURN = {
    "a day that is not archived": (
        f"{BEGIN} from recorder.partition order by lower limit 1"
    ),
    "a day that is not over": (
        f"{BEGIN} from recorder.partition where upper > now() limit 1"
    ),
    "a day of which nothing was built": """
        select recorder.thin_partition(partition, 99, 'keep', $1,
          '[{"log_id": 1, "rules": [], "entries": 1, "sha256": "00"}]')
        from recorder.archived_day limit 1
    """,
    "a hash that is none": """
        select recorder.stage_thinned(1, 1, 1, '{0}', 'x')
        where $1::jsonb is not null
    """,
}


@pytest.mark.parametrize("what", OUT_OF_TURN)
async def test_the_database_refuses_to_thin_out_of_turn(
    log: Database, tmp_path: Path, what: str
) -> None:
    statement = OUT_OF_TURN[what]
    asked_by = {"rules": [ALL[0].document()], "longer": []}
    if "archived_day" in statement:
        await run(log, tmp_path, shorter=())
    connection = await asyncpg.connect(log.dsn("retention"))
    with pytest.raises(asyncpg.RaiseError, match="refused"):
        await connection.execute(statement, json.dumps(asked_by))
    await connection.close()


async def test_hashes_of_what_went_stay(log: Database, tmp_path: Path) -> None:
    await run(log, tmp_path)
    async with owner(log) as connection:
        await connection.execute("set recorder.pruning = 'on'")
        for table in ("thinned", "thinning"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(f"delete from recorder.{table}")
