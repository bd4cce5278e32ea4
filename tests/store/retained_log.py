"""The logs of 0.1.0 after retention with rules, and the archive of them.

Only 0.1.0 could keep a part of a day, or take a part out of it. Its rules:
``retention_longer = ["Node=730", "audit/delete=365"]`` and
``retention_shorter = ["Event=1", "Lease=1", "audit/get=2", "audit/create=1",
"audit/patch=1", "audit/update=1"]``.

Log 1 has days that were dropped, whose statements and facts of Nodes were
kept, and three days that were thinned; log 2, a tape, was dropped but for
what was kept; log 3, a tape, has one day, which was thinned.
"""

import io
import tarfile
from pathlib import Path

import zstandard

from tests.corpus.logs import tape_of
from tests.store.release_logs import FOLDER, restore
from tests.support.postgres import Database

__all__ = ["DROPPED", "NAME", "THINNED", "restored", "tape"]

NAME = "0.1.0-retained"
PLACE = "/srv/archive"
"""Where the archive was when the logs were dumped."""

DROPPED, THINNED = "drain-audited", "admin-request-audited"
"""The tapes of logs 2 and 3."""

RECORDED, MOVED = b"2026-11-21", b"2026-11-10"
"""The day of the tapes, and the day on which log 2 was recorded: what was
observed within six hours of the end of a day was kept with its entries."""


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
