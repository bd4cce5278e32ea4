"""What does not answer is not waited for."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from recorder.doctor import database
from recorder.doctor.checkup import checkup
from recorder.model.settings import Settings
from recorder.wiring.checkup import probes

pytestmark = pytest.mark.usefixtures("cluster_is_reached")


async def test_a_database_that_is_silent_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    monkeypatch.setattr(database, "ASK", timedelta(seconds=0.3))

    async def say_nothing(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            while await reader.read(100):
                pass
        finally:
            writer.close()

    silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    url = f"postgresql://x@127.0.0.1:{port}/x?sslmode=disable"
    settings = Settings(database_url=url, data_dir=data)

    async with silent, asyncio.timeout(60):
        found = {c.name: c async for c in checkup(settings, probes(settings))}

    assert "not done within 0.3 s" in found["database"].says
    assert "pg_isready" in str(found["database"].remedy)
    assert not found["schema"].tried
