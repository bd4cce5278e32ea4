"""A superuser's edits of the state that intake resumes from are found.

Heads of objects and resume points follow from the entries, as far as they do:
what is not derived is in docs/integrity.md with its reason.
"""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import pytest

from recorder.integrity.chain import Problem
from recorder.keeping.verifying import Verifying
from recorder.keeping.verifying_database import verify_over
from recorder.model.observation import RequestFailed
from recorder.model.reference import Resource
from recorder.store.long_work import connect_to
from tests.support.days import owner
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer
from tests.tampering.story import (
    TAPES,
    log_of,
    record,
    the_log,
)

SOME = "where object_id = (select min(object_id) from recorder.object_head h"
OF_LOG = SOME + " where log_id = 1)"
NODE = SOME + " where log_id = 1 and ready is not null)"
HEADS = {
    "removed": f"delete from recorder.object_head {OF_LOG}",
    "at another entry": (
        f"update recorder.object_head set position = position + 1 {OF_LOG}"
    ),
    "of another version": (
        "update recorder.object_head set version = version + 1 "
        + SOME
        + " where log_id = 1 and substance is null)"
    ),
    "of an older version": (
        "update recorder.object_head set version = version - 1 " + NODE
    ),
    "of another epoch": (
        f"update recorder.object_head set epoch = epoch + 1 {OF_LOG}"
    ),
    "not ready": f"update recorder.object_head set ready = not ready {NODE}",
    "with another substance": (
        "update recorder.object_head set substance = sha256('x') " + NODE
    ),
    "of an object that is gone": """
        insert into recorder.object_head (object_id, log_id, resource_id,
          epoch, version, position, heartbeats)
        select e.object_id, 1, e.resource_id, e.epoch, e.version, e.position, 0
        from recorder.entry e where e.log_id = 1 and e.operation in (4, 5)
        limit 1
    """,
    "of no object": """
        insert into recorder.object_head (object_id, log_id, resource_id,
          epoch, version, position, heartbeats)
        select 987654321, 1, resource_id, epoch, version, position, 0
        from recorder.object_head where log_id = 1 limit 1
    """,
}
RESUME_POINTS = {
    "with a gap that is not open": """
        update recorder.resume_point set gap_position = 3, gap_reason = 'x'
        where (source, resource_id) = (select source, resource_id
          from recorder.resume_point where log_id = 1
          and gap_position is null limit 1) and log_id = 1
    """,
    "with another gap than the one that is open": """
        update recorder.resume_point p set gap_position = 1
        from recorder.entry e where p.log_id = 1 and e.log_id = 1
        and e.operation = 102 and p.resource_id = e.resource_id
        and e.position = (select max(position) from recorder.entry
          where log_id = 1 and operation = 102)
    """,
}
BEGAN = (
    "the resume point of v1/pods says otherwise than its entry how the gap"
    " 2/{gap} began"
)
SECOND = " where log_id = 2 and gap_position is not null"
OPEN_GAPS = {
    "removed with its gap": (
        f"delete from recorder.resume_point{SECOND}",
        "the resume point of v1/pods is missing: the gap 2/{gap} is open",
    ),
    "of another stream": (
        f"update recorder.resume_point set source = 'tape'{SECOND}",
        "the resume point of v1/pods is missing: the gap 2/{gap} is open",
    ),
    "without its gap": (
        (
            "update recorder.resume_point set gap_position = null,"
            " gap_reason = null, gap_since = null, gap_version = null" + SECOND
        ),
        (
            "the resume point of v1/pods says that no gap is open, and its"
            " entries the gap 2/{gap}"
        ),
    ),
    "with a gap that began later": (
        f"update recorder.resume_point set gap_since = now(){SECOND}",
        BEGAN,
    ),
    "with a gap for another reason": (
        f"update recorder.resume_point set gap_reason = 'x'{SECOND}",
        BEGAN,
    ),
    "with a gap behind another version": (
        f"update recorder.resume_point set gap_version = '9'{SECOND}",
        BEGAN,
    ),
}
LOG_HEADS = {
    "in another epoch": "epoch = epoch + 1",
    "at another time": "recorded_at = '2020-01-01'",
}
UNSEEN = {
    "since when it vouches": "began_at = '2020-01-01'",
    "what it does": "state = 'absent'",
    "how far it vouches": "vouched_until = now()",
    "where it resumes": "completed = '1'",
}


async def record_refused(dsn: str) -> None:
    """Record the story, and of log 2 the beginning of a gap."""
    await record(dsn)
    written_log = log_of(dsn, TAPES[1])
    await written_log.lease()
    await written_log.append(
        RequestFailed(
            observed_at=datetime.now(UTC),
            resource=Resource.parse("v1/pods"),
            status=403,
            reason="Forbidden",
        )
    )
    await written_log.end()


@pytest.fixture(scope="module")
def log(embedded_server: DatabaseServer) -> Iterator[Database]:
    with filled_database(embedded_server, record_refused) as database:
        yield database


async def kinds(log: Database, statement: str) -> set[str]:
    return {problem.kind for problem in await problems(log, statement)}


async def problems(
    log: Database, statement: str, number: int = 1
) -> Sequence[Problem]:
    connection = await connect_to(log.superuser_dsn())
    change = connection.transaction()
    await change.start()
    try:
        await connection.execute(
            "alter table recorder.entry disable trigger all;"
            " alter table recorder.batch disable trigger all"
        )
        done = await connection.execute(statement)
        assert done.split()[-1] != "0"
        found = await verify_over(
            connection, the_log(number), Verifying(), asyncio.Event()
        )
    finally:
        await change.rollback()
        await connection.close()
    return found.problems


@pytest.mark.parametrize("edit", HEADS)
async def test_an_edited_head_is_found(log: Database, edit: str) -> None:
    assert await kinds(log, HEADS[edit]) == {"object-head-altered"}


@pytest.mark.parametrize("edit", RESUME_POINTS)
async def test_an_edited_gap_of_a_resume_point_is_found(
    log: Database, edit: str
) -> None:
    assert "resume-altered" in await kinds(log, RESUME_POINTS[edit])


@pytest.mark.parametrize("edit", OPEN_GAPS)
async def test_an_open_gap_that_is_hidden_or_edited_is_found(
    log: Database, edit: str
) -> None:
    statement, says = OPEN_GAPS[edit]
    async with owner(log) as connection:
        gap = await connection.fetchval(
            f"select gap_position from recorder.resume_point{SECOND}"
        )
    found = await problems(log, statement, 2)
    assert [(one.kind, one.position, one.says) for one in found] == [
        ("resume-altered", gap, says.format(gap=gap))
    ]


@pytest.mark.parametrize("document", ["{}", "[]", '{"from": 1}'])
async def test_a_gap_entry_that_was_altered_is_named_by_its_batch(
    log: Database, document: str
) -> None:
    statement = (
        "update recorder.entry set encoding = 0, base_distance = null,"
        f" payload = '{document}' where log_id = 2 and position ="
        f" (select gap_position from recorder.resume_point{SECOND})"
    )
    found = await problems(log, statement, 2)
    assert [one.kind for one in found] == ["batch-altered"]
    assert found[0].says.startswith("one of the entries 91 to 91 is not")


@pytest.mark.parametrize("edit", LOG_HEADS)
async def test_an_edited_head_of_the_log_is_found(
    log: Database, edit: str
) -> None:
    statement = (
        f"update recorder.log_head set {LOG_HEADS[edit]} where log_id = 2"
    )
    found = await problems(log, statement, 2)
    assert [one.kind for one in found] == ["head-altered"]
    assert "and its newest entry of epoch 1, recorded at" in found[0].says


@pytest.mark.parametrize("first", ["max", "min"])
async def test_batches_without_their_roots_are_found(
    log: Database, first: str
) -> None:
    """As if the log were of a release without hashes, to its end."""
    ends = "batch >= (select {}(batch) from recorder.batch where log_id = 2)"
    those = f"recorder.batch where log_id = 2 and {ends.format(first)}"
    async with owner(log) as connection:
        rows = await connection.fetch(f"select batch from {those} order by 1")
    edited = those.replace(" where", " set root = null where", 1)
    found = await problems(log, f"update {edited}", 2)
    assert [(one.kind, one.says) for one in found] == [
        ("batch-altered", f"the root of batch {batch} was removed")
        for (batch,) in rows
    ]


@pytest.mark.parametrize("number", [1, 2])
async def test_nothing_is_found_where_nothing_was_edited(
    log: Database, number: int
) -> None:
    nothing = "update recorder.log_head set size = size where log_id = 1"
    assert not await problems(log, nothing, number)


@pytest.mark.parametrize("what", UNSEEN)
async def test_what_follows_from_nothing_is_not_found(
    log: Database, what: str
) -> None:
    statement = (
        f"update recorder.resume_point set {UNSEEN[what]}"
        " where log_id = 1 and source = 'watch' and resource_id = ("
        " select min(resource_id) from recorder.resume_point"
        " where log_id = 1 and source = 'watch')"
    )
    assert await kinds(log, statement) == set()
