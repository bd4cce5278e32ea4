"""The log of a release as its dump, with its digest and its root.

``python -m tests.store.release_logs`` writes the one of this release: the
demo, played, as pg_dump writes it, and the digest of its entries and the root
of its tree beside it. Every later release
migrates it and must compute the same.
"""

import asyncio
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

import zstandard

import recorder
from recorder.embedded.binaries import find_binaries
from recorder.keeping.verifying import Verifying
from recorder.keeping.verifying_database import verify
from recorder.wiring.database import roles_sql
from tests.conftest import migrated
from tests.support.fact_rows import play
from tests.support.postgres import (
    Database,
    DatabaseServer,
    connected,
    fresh_database,
    start_embedded,
)
from tests.tampering.story import the_log

__all__ = ["FOLDER", "entries_digest", "restore", "root"]

FOLDER = Path(__file__).parent / "releases"
_DUMP = ("pg_dump", "--schema=recorder", "--schema=history")
_RESTORE = ("psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1")
_COLUMNS = """
    select array_agg(attname::text order by attname) from pg_attribute
    where attrelid = 'recorder.entry'::regclass and attnum > 0
      and not attisdropped
"""


async def entries_digest(
    database: Database, columns: Sequence[str] | None = None
) -> tuple[Sequence[str], str]:
    """Return the columns of the entries and the SHA-256 of what they hold.

    Given the columns of a release, a later one reads those only.
    """
    async with connected(database.superuser_dsn()) as connection:
        columns = columns or await connection.fetchval(_COLUMNS)
        names = ", ".join(f'"{name}"' for name in columns)
        digest = hashlib.sha256()
        async with connection.transaction():
            async for (row,) in connection.cursor(
                f"select (select r from (select {names}) r)::text"
                " from recorder.entry order by log_id, position"
            ):
                digest.update(row.encode() + b"\n")
        return columns, digest.hexdigest()


async def root(database: Database) -> tuple[str, list[object]]:
    """Verify the log; return the root of its tree and what is wrong.

    But for its archive, which lies elsewhere.
    """
    found = await verify(
        database.dsn("writer"), the_log(1), Verifying(), asyncio.Event()
    )
    assert found.root is not None
    return found.root, [
        problem
        for problem in found.problems
        if problem.kind != "archive-missing"
    ]


def restore(
    database: Database, dump: Path, words: Mapping[str, str] = {}
) -> None:
    """Run a dump in an empty database, as a superuser.

    ``words`` has what is written otherwise in it.
    """
    sql = zstandard.ZstdDecompressor().stream_reader(dump.read_bytes()).read()
    for old, new in words.items():
        sql = sql.replace(old.encode(), new.encode())
    _run((*_RESTORE, database.superuser_dsn()), sql)


def _run(command: Sequence[str], given: bytes = b"") -> bytes:
    name, *rest = command
    done = subprocess.run(
        [find_binaries().program(name), *rest],
        input=given,
        capture_output=True,
        env={**os.environ, "PGTZ": "UTC"},
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


async def _make(server: DatabaseServer, version: str) -> None:
    async with fresh_database(server) as database:
        await migrated(database)
        with (
            TemporaryDirectory() as folder,
            as_file(
                files("recorder.sources.tape.demo") / "demo.tape.jsonl.zst"
            ) as tape,
        ):
            await play(database, tape, Path(folder))
        columns, digest = await entries_digest(database)
        sealed, problems = await root(database)
        assert problems == []
        dump = _run((*_DUMP, database.superuser_dsn()))
    FOLDER.mkdir(exist_ok=True)
    packed = zstandard.ZstdCompressor(level=19).compress(dump)
    (FOLDER / f"{version}.sql.zst").write_bytes(packed)
    said = {"columns": columns, "entries": digest, "root": sealed}
    (FOLDER / f"{version}.json").write_text(json.dumps(said, indent=2) + "\n")
    sys.stderr.write(f"{version}: {len(packed):,} bytes\n")


if __name__ == "__main__":
    with start_embedded(roles_sql()) as running:
        asyncio.run(_make(running, recorder.__version__))
