"""A tape of a mixed fleet, played at full speed: documents a second.

One process reads, redacts, classifies, encodes and commits; the embedded
server, with fsync, is another. Every run plays into a server of its own.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.measuring import (
    Number,
    postgres_cpu_seconds,
    run_module,
    say,
    server_folder,
)
from bench.tapes import write_tape
from recorder.model.settings import Settings
from recorder.wiring.database import open_database

__all__ = ["Played", "bench", "played"]

DOCUMENTS = 150_000
WARM_UP = 200
"""Documents of a first tape, after which partitions and dictionaries are in
the database and its files have been touched."""


@dataclass(frozen=True, slots=True)
class Played:
    """The cost of one play."""

    recorder: dict[str, Any]
    postgres_cpu_seconds: float
    found: Any
    """What was found in the database, if it was inspected."""


def bench(runs: int) -> list[Number]:
    with server_folder() as folder:
        tape = folder / "mixed.tape.jsonl.zst"
        size = write_tape(tape, "mixed", documents=DOCUMENTS) / DOCUMENTS
        say(f"mixed: {DOCUMENTS} documents of {size:.0f} bytes on average")
        # In turns, so that other load on the machine affects all.
        ways: tuple[tuple[str, ...], ...] = ((), ("facts",), ("states",))
        turns = [
            [played(tape, "mixed", leaving_out=way) for way in ways]
            for _ in range(runs)
        ]
    plays, bare, _ = zip(*turns, strict=True)
    both = list(zip(plays, bare, strict=True))
    took = [play.recorder["seconds"] for play in plays]
    for_each = 1e6 / DOCUMENTS
    return [
        Number(
            name="mixed tape to committed entries",
            unit="documents/s",
            values=[DOCUMENTS / seconds for seconds in took],
            best="max",
            target=">= 10,000",
        ),
        Number(
            name="  bytes of a document",
            unit="B",
            values=[size],
        ),
        Number(
            name="  processor time of the recorder",
            unit="us/document",
            values=[p.recorder["cpu_seconds"] * for_each for p in plays],
            best="min",
        ),
        Number(
            name="  processor time of PostgreSQL",
            unit="us/document",
            values=[p.postgres_cpu_seconds * for_each for p in plays],
            best="min",
        ),
        Number(
            name="  without facts",
            unit="documents/s",
            values=[DOCUMENTS / p.recorder["seconds"] for p in bare],
            best="max",
        ),
        Number(
            name="  share of the time that facts take",
            unit="%",
            values=[100 * _share(p, b) for p, b in both],
            target="<= 35",
        ),
        Number(
            name="  by how much a run without facts is shorter",
            unit="%",
            values=[
                100 * (1 - b.recorder["seconds"] / p.recorder["seconds"])
                for p, b in both
            ],
        ),
        Number(
            name="  processor time of facts, both processes",
            unit="us/document",
            values=[
                (_processor(p) - _processor(b)) * for_each for p, b in both
            ],
        ),
        Number(
            name="  the same where states of objects are not kept, relative",
            unit="",
            values=[
                (_processor(forgot) - _processor(b))
                / (_processor(p) - _processor(b))
                for p, b, forgot in turns
            ],
        ),
        Number(
            name="  memory of the recorder at most",
            unit="MiB",
            values=[p.recorder["memory_mib_max"] for p in plays],
        ),
    ]


def played(
    tape: Path,
    mix: str,
    inspect: Callable[[str], Awaitable[Any]] | None = None,
    *,
    leaving_out: Sequence[str] = (),
) -> Played:
    """Play a tape into a new server; optionally without a part, for its cost.

    What ``inspect`` finds with the owner's address is read before and after.
    """
    with server_folder() as folder:
        small = folder / "small.tape.jsonl.zst"
        write_tape(small, mix, documents=WARM_UP, seed="warm-up")
        return asyncio.run(_played(folder, small, tape, inspect, leaving_out))


async def _played(
    folder: Path,
    small: Path,
    tape: Path,
    inspect: Callable[[str], Awaitable[Any]] | None,
    leaving_out: Sequence[str],
) -> Played:
    async with open_database(Settings(data_dir=folder)) as database:
        await _run(folder, small, leaving_out)
        before = await inspect(database.dsn("owner")) if inspect else None
        spent = postgres_cpu_seconds(folder)
        recorder = await _run(folder, tape, leaving_out)
        spent = postgres_cpu_seconds(folder) - spent
        after = await inspect(database.dsn("owner")) if inspect else None
    say(f"  {recorder['entries'] / recorder['seconds']:,.0f} entries/s")
    return Played(recorder, spent, (before, after))


def _share(play: Played, bare: Played) -> float:
    """Return the share of facts in the recorder's processor time.

    Documents are decoded once, for entries and facts: the fields decoded only
    for facts are not decoded in the run without them.
    """
    recorder, without = play.recorder, bare.recorder
    decoding: float = (
        recorder["share_of_decoding"]
        - without["share_of_decoding"]
        * without["cpu_seconds"]
        / recorder["cpu_seconds"]
    )
    facts: float = recorder["share_of_facts"]
    return facts + decoding


def _processor(play: Played) -> float:
    seconds: float = play.recorder["cpu_seconds"]
    return seconds + play.postgres_cpu_seconds


async def _run(
    folder: Path, tape: Path, leaving_out: Sequence[str]
) -> dict[str, Any]:
    how = [f"--no-{what}" for what in leaving_out]
    return await asyncio.to_thread(
        run_module, "bench.playing", folder, tape, *how
    )
