"""What intake goes on from, edited by a superuser, is found out.

Heads of objects and resume points follow from the entries, as far as they do:
what is not derived is in docs/integrity.md with its reason.
"""

import asyncio
from collections.abc import Iterator

import pytest

from recorder.admin.verifying import Verifying, verify_over
from recorder.store.long_work import connect_to
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer
from tests.tampering.story import record, the_log

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
UNSEEN = {
    "how far it vouches": "vouched_until = now()",
    "where it resumes": "completed = '1'",
}


@pytest.fixture(scope="module")
def log(embedded_server: DatabaseServer) -> Iterator[Database]:
    with filled_database(embedded_server, record) as database:
        yield database


async def kinds(log: Database, statement: str) -> set[str]:
    connection = await connect_to(log.superuser_dsn())
    change = connection.transaction()
    await change.start()
    try:
        await connection.execute(
            "alter table recorder.entry disable trigger all"
        )
        done = await connection.execute(statement)
        assert done.split()[-1] == "1"
        found = await verify_over(
            connection, the_log(1), Verifying(), asyncio.Event()
        )
    finally:
        await change.rollback()
        await connection.close()
    return {problem.kind for problem in found.problems}


@pytest.mark.parametrize("edit", HEADS)
async def test_an_edited_head_is_found(log: Database, edit: str) -> None:
    assert await kinds(log, HEADS[edit]) == {"object-head-altered"}


@pytest.mark.parametrize("edit", RESUME_POINTS)
async def test_an_edited_gap_of_a_resume_point_is_found(
    log: Database, edit: str
) -> None:
    assert "resume-altered" in await kinds(log, RESUME_POINTS[edit])


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
