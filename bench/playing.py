"""One process that plays one tape, and prints its cost.

``python -m bench.playing FOLDER TAPE`` plays into the embedded server of
a folder, which must run, and prints one line of JSON. With ``--profile FILE``
it writes a profile of itself instead of being fast; with ``--no-facts`` it
derives none and decodes what entries need, to measure their cost; with
``--no-hashes`` batches get none; with ``--no-states`` no states of objects are
kept, so that each previous version is read from the log.
"""

import argparse
import asyncio
import cProfile
import json
import resource
import time
from pathlib import Path

from bench.shares import Shares
from recorder.cli.stopping import run_until_stopped
from recorder.facts import KnownStates, Read
from recorder.facts.classify import Wire, objects
from recorder.facts.classify.wire import (
    WireObject,
    read_wire_event,
    read_wire_object,
)
from recorder.intake.deriving import Deriver
from recorder.intake.state import Batch
from recorder.keeping.playing import Playing, play_tape
from recorder.model.entry import Draft
from recorder.model.settings import Settings
from recorder.store import bookkeeping
from recorder.store.append import Appender
from recorder.store.fact_rows import name_facts
from recorder.store.hashing import Hashes
from recorder.wiring.database import open_database

__all__: list[str] = []

DECODERS = ("read_full_event", "read_full_object")
"""Of `objects`, which decode what entries and facts need."""


async def play(folder: Path, tape: Path, profile: Path | None) -> None:
    settings = Settings(data_dir=folder)
    async with open_database(settings) as database:
        before = resource.getrusage(resource.RUSAGE_SELF)
        began = time.perf_counter()
        profiler = cProfile.Profile() if profile else None
        if profiler is not None:
            profiler.enable()
        with _shares() as shares:
            played = await play_tape(
                Playing(path=tape),
                settings,
                database.dsn("writer"),
                asyncio.Event(),
            )
        if profiler is not None:
            profiler.disable()
            profiler.dump_stats(str(profile))
        seconds = time.perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "entries": played.progress.entries,
                "batches": played.progress.batches,
                "seconds": seconds,
                "cpu_seconds": (after.ru_utime - before.ru_utime)
                + (after.ru_stime - before.ru_stime),
                "memory_mib_max": after.ru_maxrss / 1024,
                "share_of_facts": shares.of("facts"),
                "share_of_decoding": shares.of("decoding"),
            }
        )
    )


def _shares() -> Shares:
    """Separate facts from the rest; two runs show their share of decoding."""
    return Shares(
        {
            "facts": (
                KnownStates.enter,
                Deriver.derive,
                name_facts,
                Appender._write_facts,
            ),
            "decoding": tuple(getattr(objects, name) for name in DECODERS),
        }
    )


async def _derive_nothing(_: Deriver, batch: Batch) -> None:
    batch.facts = []


def _enter_nothing(
    _: KnownStates, __: int, ___: Draft, ____: Wire | None, _____: int | None
) -> Read:
    return []


def _read_wire_object(raw: bytes, _: str) -> WireObject:
    return read_wire_object(raw)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.playing")
    parser.add_argument("folder", type=Path)
    parser.add_argument("tape", type=Path)
    parser.add_argument("--profile", type=Path)
    parser.add_argument("--no-facts", action="store_true")
    parser.add_argument("--no-hashes", action="store_true")
    parser.add_argument("--no-states", action="store_true")
    arguments = parser.parse_args()
    if arguments.no_hashes:
        bookkeeping._hashes = lambda *_: Hashes(None, None, None)
    if arguments.no_facts:
        Deriver.derive = _derive_nothing  # type: ignore[method-assign,assignment]
        KnownStates.enter = _enter_nothing  # type: ignore[method-assign,assignment]
        bare = (read_wire_event, _read_wire_object)
        for name, read in zip(DECODERS, bare, strict=True):
            setattr(objects, name, read)
    if arguments.no_states:
        # Of the version before, nothing but what the batch itself holds.
        Deriver.__init__.__kwdefaults__ = {"states_max": 0}
    run_until_stopped(
        lambda _: play(arguments.folder, arguments.tape, arguments.profile),
        fast_loop=True,
    )


if __name__ == "__main__":
    main()
