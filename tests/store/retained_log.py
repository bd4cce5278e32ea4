"""The logs of 0.1.0 after retention with rules, and the archive of them.

``python -m tests.store.retained_log`` writes them, which only 0.1.0 can: no
later release keeps a part of a day, or takes a part out of it.

Log 1 has four days that were dropped, of which statements and all facts of
Nodes were kept, and three out of which entries were taken; log 2, a tape, was
dropped whole but for that; of log 3, a tape, one day is there without its
Events, audit records and silences of Leases.
"""

import asyncio
import io
import json
import socket
import sys
import tarfile
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import zstandard

from recorder.settings import Settings
from recorder.wiring.database import roles_sql
from recorder.wiring.retaining import retain_now
from tests.conftest import migrated
from tests.corpus.logs import play, tape_of
from tests.store.release_logs import (
    FOLDER,
    dumped,
    entries_digest,
    restore,
    root,
)
from tests.support.days import (
    set_clock,
    write_days,
    write_statements,
)
from tests.support.postgres import (
    Database,
    DatabaseServer,
    fresh_database,
    start_embedded,
)

__all__ = ["DROPPED", "NAME", "THINNED", "restored", "tape"]

NAME = "0.1.0-retained"
PLACE = "/srv/archive"
"""Where the archive was when the logs were dumped."""

DROPPED, THINNED = "drain-audited", "admin-request-audited"
"""The tapes of logs 2 and 3."""

RECORDED, MOVED = b"2026-11-21", b"2026-11-10"
"""The day of the tapes, and the day on which log 2 was recorded: what was
observed within six hours of the end of a day was kept with its entries."""

RULES = {
    "retention_longer": "Node=730, audit/delete=365",
    "retention_shorter": "Event=1, Lease=1, audit/get=2, audit/create=1,"
    " audit/patch=1, audit/update=1",
}


def restored(database: Database, folder: Path) -> Path:
    """Restore logs and archive; return the place of the archive."""
    place = folder / "archive"
    packed = (FOLDER / f"{NAME}.archive.tar.zst").read_bytes()
    content = zstandard.ZstdDecompressor().stream_reader(packed).read()
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(place, filter="data")
    restore(database, FOLDER / f"{NAME}.sql.zst", {PLACE: str(place)})
    return place


def tape(name: str, folder: Path) -> Path:
    """Return a tape as it was played."""
    if name != DROPPED:
        return tape_of(name)
    with zstandard.open(tape_of(name)) as packed:
        content = packed.read()
    moved = folder / f"{name}.tape.jsonl"
    moved.write_bytes(content.replace(RECORDED, MOVED))
    return moved


async def _play(database: Database, name: str, ago: int) -> None:
    await set_clock(database, -timedelta(days=ago))
    with TemporaryDirectory() as folder:
        path = tape(name, Path(folder))
        await play(database.dsn("writer"), path, name=name)
    await set_clock(database, timedelta(0))


async def _make(server: DatabaseServer) -> None:
    async with fresh_database(server) as database:
        await migrated(database)
        await write_days(database, oldest=14)
        await write_statements(database, 9)
        for ago in (5, 3, 2):
            await write_statements(database, ago)
        await _play(database, DROPPED, 15)
        await _play(database, THINNED, 6)
        settings = Settings(
            database_url=database.superuser_dsn(),
            retention_archive=PLACE,
            retention_longer=tuple(RULES["retention_longer"].split(", ")),
            retention_shorter=tuple(
                one.strip() for one in RULES["retention_shorter"].split(",")
            ),
        )
        with patch.object(socket, "gethostname", lambda: "recorder-0"):
            done = await retain_now(settings, drop=True)
        sys.stderr.write(f"{done}\n")
        columns, digest = await entries_digest(database)
        sealed, problems = await root(database)
        assert problems == []
        dump = dumped(database)
    (FOLDER / f"{NAME}.sql.zst").write_bytes(_packed(dump))
    said = {"columns": columns, "entries": digest, "root": sealed}
    (FOLDER / f"{NAME}.json").write_text(json.dumps(said, indent=2) + "\n")
    (FOLDER / f"{NAME}.archive.tar.zst").write_bytes(_packed(_archive()))


def _archive() -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for path in sorted(Path(PLACE).iterdir()):
            archive.add(path, path.name)
    return content.getvalue()


def _packed(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=19).compress(content)


if __name__ == "__main__":
    with start_embedded(roles_sql()) as running:
        asyncio.run(_make(running))
