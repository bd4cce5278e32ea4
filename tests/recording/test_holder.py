"""How a recorder names itself in the lease of its log."""

from pathlib import Path

import pytest

from recorder.model.errors import StandingByError, UnknownStateError
from recorder.model.settings import Settings
from recorder.store.writer import Writer
from recorder.wiring.recording import holder
from tests.contract.test_log import SPEC, Observer, pods
from tests.support.postgres import Database


async def test_a_killed_recorder_of_a_data_folder_is_not_waited_for(
    database: Database, tmp_path: Path
) -> None:
    """The folder is locked, so its lease is of a process that is dead."""
    settings = Settings(data_dir=tmp_path)
    killed = Writer(database.dsn("writer"), SPEC, holder=holder(settings))
    teller = Observer(await killed.take_lease())

    again = Writer(database.dsn("writer"), SPEC, holder=holder(settings))
    await again.take_lease()

    with pytest.raises(UnknownStateError):
        await killed.append(teller.batch(*pods(1, 1)))
    await again.close()
    await killed.close()


async def test_a_recorder_of_a_shared_database_waits_for_the_lease(
    database: Database, tmp_path: Path
) -> None:
    """Another may have started on the same machine."""
    dsn = database.dsn("writer")
    settings = Settings(data_dir=tmp_path, database_url=dsn)
    first = Writer(dsn, SPEC, holder=holder(settings))
    await first.take_lease()

    second = Writer(dsn, SPEC, holder=holder(settings))
    with pytest.raises(StandingByError):
        await second.take_lease()

    await second.close()
    await first.close()
