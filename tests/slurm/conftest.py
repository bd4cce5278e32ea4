"""One database for all logs that these tests write themselves."""

from collections.abc import Iterator

import pytest

from tests.slurm.playing import Logs
from tests.support.filled import filled_database
from tests.support.postgres import DatabaseServer


@pytest.fixture(scope="session")
def logs(embedded_server: DatabaseServer) -> Iterator[Logs]:
    async def nothing(_: str) -> None:
        """Leave the database empty."""

    with filled_database(embedded_server, nothing) as database:
        yield Logs(database)
