"""A log to be tampered with, and its checkpoints outside."""

from pathlib import Path

import asyncpg

from recorder.facts.coverage.ports import Log
from recorder.integrity.chain import Witnessed
from recorder.integrity.notes import Checkpoint
from recorder.integrity.tree import CompactRange
from recorder.sources.tape.reader import TapeReader
from recorder.store.read_batches import headers, read_end
from recorder.store.writer import LogSpec
from tests.support.written_log import WrittenLog

TAPES = ("s16_gap_in_remediation", "u15_debug_pod_reboots")
FOLDER = Path(__file__).parents[1] / "corpus/live"
BATCH = 5
"""Entries, or a few more: a list is one frame."""


async def record(dsn: str) -> None:
    """Write the tapes into the logs 1 and 2, in the same batches always."""
    for name in TAPES:
        written_log = log_of(dsn, name)
        await written_log.lease()
        with TapeReader(FOLDER / f"{name}.tape.jsonl.zst") as reader:
            for _, frame in reader.frames():
                if written_log.take(frame) >= BATCH:
                    await written_log.append()
        await written_log.append()
        await written_log.end()


def log_of(dsn: str, name: str) -> WrittenLog:
    spec = LogSpec(
        cluster_name=name,
        cluster_uid=f"uid-{name}",
        kubernetes="v1.36.3",
        redaction_key_id=None,
        tape_uid=name,
    )
    return WrittenLog(dsn, spec, holder="tampering")


def the_log(number: int) -> Log:
    return Log(
        id=number,
        kind="tape",
        cluster_name=TAPES[number - 1],
        cluster_uid="",
        kubernetes="",
        size=0,
        recorded_at=None,
        holder=None,
    )


async def committed(connection: asyncpg.Connection) -> list[Witnessed]:
    """Return checkpoints of log 1, after every fourth batch and the last."""
    end = await read_end(connection, 1)
    tree, found = CompactRange(), []
    async for one in headers(connection, end, after=0, until=end.batches):
        tree.append(one.header.hash())
        if tree.end % 4 == 0 or tree.end == end.batches:
            checkpoint = Checkpoint(end.identity.origin, tree.end, tree.root())
            found.append(Witnessed(checkpoint, "outside"))
    return found
