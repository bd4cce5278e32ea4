"""What is kept of a schedule that failed: its log, the truth, what was said.

Written for a person with an editor: a line of JSON for each entry and for
each version.
"""

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

import asyncpg
import orjson

from tests.support.read_log import WholeLog, read_log
from tests.survival.site import Site

__all__ = ["keep"]


class _Told(Protocol):
    wrong: list[str]
    struck: list[str]


class _Seeded(Protocol):
    @property
    def seed(self) -> int: ...


async def keep(
    site: Site,
    schedule: _Seeded,
    told: _Told,
    log: WholeLog | None,
    folder: Path,
) -> Path:
    """Write all there is into a folder named for the seed; return it."""
    kept = folder / f"seed-{schedule.seed}"
    kept.mkdir(parents=True, exist_ok=True)
    lines = [f"seed {schedule.seed}", "", *told.struck, "", *told.wrong]
    (kept / "story.txt").write_text("\n".join(lines) + "\n")
    if log is None:
        log = await _whatever_there_is(site)
    if log is not None:
        with (kept / "log.ndjson").open("wb") as file:
            for position, (epoch, draft) in enumerate(log.entries, 1):
                line = {
                    "position": position,
                    "epoch": epoch,
                    "operation": draft.operation.value,
                    "resource": draft.resource,
                    "observed_at": draft.observed_at,
                    "document": draft.raw.decode(errors="replace"),
                }
                file.write(orjson.dumps(line) + b"\n")
    with (kept / "oracle.ndjson").open("wb") as file:
        for version in site.cluster.oracle.versions():
            file.write(orjson.dumps(asdict(version)) + b"\n")
    places = (site.folder, site.data, site.folder / "server")
    for place in (*places, site.folder / "cluster"):
        for pattern in ("*.said", "*.log"):
            for said in place.glob(pattern):
                shutil.copy(said, kept / said.name)
    return kept


async def _whatever_there_is(site: Site) -> WholeLog | None:
    try:
        return await read_log(site.database.dsn("reader"))
    except (OSError, TimeoutError, TypeError, asyncpg.PostgresError):
        # TypeError: no recorder ever came to write.
        return None
