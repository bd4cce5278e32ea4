"""A log that was put back to a backup while it was written."""

import pytest

from recorder.intake.state import Batch
from recorder.model.errors import UnknownStateError
from recorder.store.writer import LogSpec, Writer
from tests.support.postgres import Database, connected

SPEC = LogSpec(
    cluster_name="prod",
    cluster_uid="uid",
    kubernetes="v1",
    redaction_key_id=None,
)


def nothing_new() -> Batch:
    return Batch(
        first_position=1, epoch=1, drafts=[], heads={}, gone={}, streams={}
    )


async def test_a_term_that_is_given_again_fences_its_first_holder(
    any_database: Database,
) -> None:
    """The backup knows neither of them, and so gives the same term twice."""
    first = Writer(any_database.dsn("writer"), SPEC, holder="host-a/1/aa")
    second = Writer(any_database.dsn("writer"), SPEC, holder="host-b/1/bb")
    try:
        await first.take_lease()
        await put_back(any_database)
        await second.take_lease()

        with pytest.raises(UnknownStateError, match="another writer holds it"):
            await first.append(nothing_new())
        await first.close()
        await second.append(nothing_new())
    finally:
        await first.close()
        await second.close()


async def put_back(database: Database) -> None:
    async with connected(database.superuser_dsn()) as connection:
        await connection.execute(
            "update recorder.log_head set term = 0, holder = null,"
            " expires_at = '-infinity'"
        )
