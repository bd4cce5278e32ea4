"""Makes the corpus: ``python -m tests.corpus.make [--jobs N] [NAME ...]``.

Every incident gets a cluster of its own, happens, is recorded, and leaves a
tape and its truth in `tapes`. Names choose incidents; without any, all are
made.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from tests.cluster.cluster import Cluster
from tests.corpus.audit import audit_lines, merged
from tests.corpus.incident import Incident, everything
from tests.corpus.stage import Stage
from tests.corpus.tape_lines import raw_lines, write_raw

__all__ = ["TAPES", "main", "make"]

TAPES = Path(__file__).with_name("tapes")


async def make(incident: Incident, tapes: Path = TAPES) -> None:
    """Run an incident, and keep its tape and its truth."""
    with _folder() as folder:
        options = incident.options
        async with Cluster.start(folder / "cluster", options) as cluster:
            stage = Stage(incident.name, incident.says, cluster, folder)
            await incident.story(stage)
        lines = _joined(raw_lines(part) for part in stage.parts)
        lines = [line for line in lines if _stays(line, incident)]
        if incident.options.audit_policy is not None:
            records = audit_lines(cluster.audit_log)
            lines = merged(lines, records)
        # Both or none: each is worthless without the other.
        write_raw(tapes / f"{incident.name}.tape.jsonl.zst", lines)
        await asyncio.to_thread(shutil.copy, stage.truth_file, tapes)


def _joined(parts: Iterable[list[bytes]]) -> list[bytes]:
    """Join recordings of one cluster in the order of their arrival."""
    first, *others = parts
    for other in others:
        first += other[1:]
    return first


def _stays(line: bytes, incident: Incident) -> bool:
    frame = orjson.loads(line)
    if frame.get("resource") != "v1/events" or frame["frame"] != "watch":
        return True
    reason = frame["event"]["object"].get("reason")
    return reason not in incident.without_events


@contextmanager
def _folder() -> Iterator[Path]:
    """Yield a folder that PostgreSQL's own user may enter."""
    with tempfile.TemporaryDirectory(
        prefix="corpus-", ignore_cleanup_errors=True
    ) as name:
        Path(name).chmod(0o755)
        yield Path(name)


async def _make_all(incidents: list[Incident], at_once: int) -> list[str]:
    """Make incidents, some at once; return the names of those that failed."""
    limit = asyncio.Semaphore(at_once)
    failed = []

    async def one(incident: Incident) -> None:
        async with limit:
            began = time.monotonic()
            try:
                await make(incident)
            except Exception as error:  # noqa: BLE001 - others go on
                failed.append(incident.name)
                print(f"{incident.name}: {error!r}", file=sys.stderr)
                return
            took = time.monotonic() - began
            tape = TAPES / f"{incident.name}.tape.jsonl.zst"
            print(
                f"{incident.name}: {tape.stat().st_size} bytes, {took:.0f} s",
                flush=True,
            )

    async with asyncio.TaskGroup() as group:
        for incident in incidents:
            group.create_task(one(incident))
    return failed


def main(arguments: list[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="make", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once")
    parser.add_argument(
        "--list", action="store_true", help="only say what there is"
    )
    asked = parser.parse_args(arguments)
    known = everything()
    if asked.list:
        for name, incident in sorted(known.items()):
            print(f"{name}: {incident.says}")
        return 0
    for name in asked.names:
        if name not in known:
            print(
                f"no incident {name!r}, there are {', '.join(sorted(known))}",
                file=sys.stderr,
            )
            return 2
    TAPES.mkdir(exist_ok=True)
    wanted = [known[name] for name in asked.names or sorted(known)]
    failed = asyncio.run(_make_all(wanted, asked.jobs))
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
