"""A tape as a log to be asked, in a database that goes with the question."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from recorder.keeping.playing import Playing, play_tape
from recorder.model.settings import Settings
from recorder.wiring.database import open_database
from recorder.wiring.reading import OpenedLog, open_logs

__all__ = ["open_tape"]

PASSABLE = 0o755
"""The embedded server runs as another user than root, who must get there."""


@asynccontextmanager
async def open_tape(
    tape: Path, *, on_wait: Callable[[str], None] | None = None
) -> AsyncIterator[OpenedLog]:
    """Play a tape into a folder of its own, and open it for reading.

    Raises:
        TapeError: the tape cannot be read.
    """
    with TemporaryDirectory(prefix="recorder-tape-") as folder:
        await asyncio.to_thread(Path(folder).chmod, PASSABLE)
        settings = Settings(data_dir=Path(folder) / "data")
        async with open_database(settings, on_wait=on_wait) as database:
            await play_tape(
                Playing(path=tape),
                settings,
                database.dsn("writer"),
                asyncio.Event(),
            )
            async with open_logs(settings, on_wait=on_wait) as logs:
                yield await logs.read(None)
