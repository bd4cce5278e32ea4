"""A database with two logs: a mixed one, and the loss of a rack."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.measuring import server_folder
from bench.tapes import write_tape
from recorder.model.settings import Settings
from recorder.wiring.database import open_database
from tests.corpus.logs import play_in_turn, tape_of

__all__ = ["two_logs"]


@asynccontextmanager
async def two_logs(documents: int) -> AsyncIterator[tuple[Path, str]]:
    """Yield a data folder and the address of a reader, with both logs."""
    with server_folder() as folder:
        tape = folder / "mixed.tape.jsonl.zst"
        write_tape(tape, "mixed", documents=documents)
        async with open_database(Settings(data_dir=folder)) as database:
            await play_in_turn(
                database.dsn("writer"),
                {"mixed": tape, "rack": tape_of("rack-loss-jobset")},
            )
            yield folder, database.dsn("reader")
