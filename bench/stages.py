"""Where the time of a document goes: microseconds of each stage.

Every stage is run alone over the documents of a tape, in the process's own
processor time, the best of several runs. The rest of a whole play is the
sending of rows, the other statements and the event loop.
"""

import asyncio
import gc
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from bench.fleet import BEGAN
from recorder.facts.classify import draft, read_object
from recorder.intake.admission import admit
from recorder.intake.ledger import Ledger
from recorder.intake.queue import weight
from recorder.intake.redact import Redaction, RedactionRules
from recorder.intake.relisting import Relisting
from recorder.intake.sequencer import Sequencer
from recorder.intake.state import Batch, Recovered
from recorder.model.entry import Operation
from recorder.model.observation import Observation, WatchFrame
from recorder.model.settings import Settings
from recorder.sources.tape import TapeReader
from recorder.store.encoding import Encoder
from recorder.store.names import Names, Numbers
from recorder.store.rows import entry_rows, name_entries
from recorder.store.shipped import shipped
from recorder.store.writer import LogSpec, Writer
from recorder.wiring.database import open_database

__all__ = ["stages"]

RUNS = 3
BATCH = 2000
KEY = b"0123456789abcdef"


def stages(tape: Path, folder: Path) -> dict[str, float]:
    """Return microseconds a document by stage."""
    taken: dict[str, float] = {}
    observations: list[Observation] = []

    def read() -> None:
        observations.clear()
        with TapeReader(tape) as reader:
            observations.extend(seen for _, seen in reader.frames())

    taken["reading the tape"] = _cost(read)
    frames = len([o for o in observations if isinstance(o, WatchFrame)])
    redaction = Redaction(RedactionRules(), KEY)
    admitted: list[Observation] = []

    def redact() -> None:
        admitted[:] = admit(observations, redaction)
        sum(map(weight, admitted))

    taken["redaction"] = _cost(redact)
    taken["classification"] = _cost(lambda: _classify(admitted))
    batches: list[Batch] = []

    def sequence() -> None:
        batches[:] = _sequenced(admitted)

    taken["sequencing, classification within"] = _cost(sequence)
    numbers = _numbers(batches)
    taken["encoding"] = _cost(lambda: _encode(batches, numbers))
    taken["encoding, COPY and other statements"] = asyncio.run(
        _append(batches, folder)
    )
    return {stage: spent / frames * 1e6 for stage, spent in taken.items()}


async def _append(batches: list[Batch], folder: Path) -> float:
    """Append to a real server, once: a log cannot be written again."""
    settings = Settings(data_dir=folder)
    spec = LogSpec(
        cluster_name="stages",
        cluster_uid=f"stages {time.time_ns()}",
        kubernetes="-",
        redaction_key_id=None,
    )
    async with open_database(settings) as database:
        writer = Writer(database.dsn("writer"), spec, holder="stages")
        await writer.take_lease()
        began = time.thread_time()
        for batch in batches:
            await writer.append(batch)
        spent = time.thread_time() - began
        await writer.close()
    return spent


def _cost(act: Callable[[], None]) -> float:
    best = float("inf")
    for _ in range(RUNS):
        gc.collect()
        began = time.thread_time()
        act()
        best = min(best, time.thread_time() - began)
    return best


def _classify(observations: list[Observation]) -> None:
    for frame in observations:
        if isinstance(frame, WatchFrame):
            draft(
                read_object(frame.object, resource=frame.resource),
                kind=None,
                operation=Operation.MODIFIED,
                observed_at=frame.observed_at,
                source=frame.source,
            )


def _sequenced(observations: list[Observation]) -> list[Batch]:
    recovered = Recovered(log=1, size=0, epoch=1, heads=[], streams={})
    ledger = Ledger(recovered)
    sequencer = Sequencer(ledger, Relisting(ledger))
    batches = []
    for observation in observations:
        sequencer.take(observation)
        if ledger.entries >= BATCH:
            batches.append(sequencer.seal())
    return [*batches, sequencer.seal()]


def _numbers(batches: list[Batch]) -> Numbers:
    """Number everything, as the dimension tables would."""
    names = Names()
    for batch in batches:
        name_entries(batch, names)
    return Numbers(
        nodes=dict(zip(names.nodes, count(1), strict=False)),
        objects=dict(zip(names.objects, count(1), strict=False)),
        resources=dict(zip(names.resources, count(1), strict=False)),
        words=dict(zip(names.words, count(1), strict=False)),
    )


def _encode(batches: list[Batch], numbers: Numbers) -> None:
    dictionaries = {
        name: (number, content)
        for number, (name, content) in enumerate(shipped())
    }
    encoder = Encoder(dictionaries)
    for batch in batches:
        for _ in entry_rows(batch, numbers, encoder, log=1, recorded_at=BEGAN):
            pass
