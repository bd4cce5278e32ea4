"""Files as a log to be asked, in a database that goes with the question."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from recorder.keeping.playing import Playing, play_tape
from recorder.model.settings import Settings
from recorder.wiring.database import open_database
from recorder.wiring.reading import OpenedLog, open_logs

PASSABLE = 0o755
"""The embedded server runs as another user than root, who must get there."""


@contextmanager
def fleeting(settings: Settings | None = None) -> Iterator[Settings]:
    """Return settings of a database that exists while entered."""
    with TemporaryDirectory(prefix="recorder-tape-") as folder:
        Path(folder).chmod(PASSABLE)
        yield replace(
            settings or Settings(),
            data_dir=Path(folder) / "data",
            database_url=None,
            cluster=None,
            redaction_key_file=None,
        )


@asynccontextmanager
async def open_tape(
    tape: Path, *, on_wait: Callable[[str], None] | None = None
) -> AsyncIterator[OpenedLog]:
    """Play a tape into a folder of its own, and open it for reading.

    Raises:
        TapeError: the tape cannot be read.
    """
    with fleeting() as settings:
        async with open_database(settings, on_wait=on_wait) as database:
            await play_tape(
                Playing(path=tape),
                settings,
                database.dsn("writer"),
                asyncio.Event(),
            )
            async with open_logs(settings, on_wait=on_wait) as logs:
                yield await logs.read(None)
