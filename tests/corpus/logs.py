"""Tapes of the corpus, each played into a log of its own.

They are played as `recorder tape play` plays them, so that questions to these
logs get the answers that an operator gets.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from recorder.intake.recording import Recording
from recorder.intake.redact import Redaction, RedactionRules
from recorder.model.observation import TAPE
from recorder.sources.tape import TapeReader, TapeSource
from recorder.store.engine import make_engine
from recorder.store.read import LogReading
from recorder.store.writer import LogSpec, Writer
from tests.corpus.make import TAPES

__all__ = [
    "names",
    "play",
    "play_all",
    "play_in_turn",
    "play_tapes",
    "reading_of",
    "tape_of",
    "truth_of",
]

KEY = b"0" * 32

AT_ONCE = 4
"""Tapes that are played at a time: each waits for its commits."""


def names() -> list[str]:
    """Return the incidents of the corpus."""
    found = TAPES.glob("*.truth.json")
    return sorted(path.name.removesuffix(".truth.json") for path in found)


def tape_of(name: str) -> Path:
    """Return the tape of an incident."""
    return TAPES / f"{name}.tape.jsonl.zst"


def truth_of(name: str) -> Path:
    """Return the truth of an incident."""
    return TAPES / f"{name}.truth.json"


async def play(dsn: str, tape: Path, *, name: str) -> int:
    """Play a tape into the log of a name; return its number.

    If the log has the beginning of the tape, it continues from there.
    """
    with TapeReader(tape) as reader:
        header = reader.header
    spec = LogSpec(
        cluster_name=name,
        cluster_uid=header.cluster_uid,
        kubernetes=header.kubernetes,
        redaction_key_id=None,
        tape_uid=name,
    )

    writer = Writer(dsn, spec, holder="corpus")
    redaction = Redaction(RedactionRules(), KEY)
    recording = Recording(writer, redaction)
    await recording.run({TAPE: TapeSource(tape)}, asyncio.Event())
    return writer.log


async def play_in_turn(dsn: str, tapes: Mapping[str, Path]) -> None:
    """Play tapes into the logs 1, 2, ... of an empty database."""
    for number, (name, tape) in enumerate(tapes.items(), 1):
        assert await play(dsn, tape, name=name) == number


async def play_all(dsn: str, chosen: Iterable[str]) -> dict[str, int]:
    """Play incidents; return the number of each one's log."""
    return await play_tapes(dsn, {name: tape_of(name) for name in chosen})


async def play_tapes(dsn: str, tapes: Mapping[str, Path]) -> dict[str, int]:
    """Play tapes side by side; return the number of each one's log."""
    turns = asyncio.Semaphore(AT_ONCE)

    found: dict[str, int] = {}

    async def one(name: str, tape: Path) -> None:
        async with turns:
            found[name] = await play(dsn, tape, name=name)

    async with asyncio.TaskGroup() as tasks:
        for name, tape in tapes.items():
            tasks.create_task(one(name, tape))
    return found


@asynccontextmanager
async def reading_of(dsn: str, log: int) -> AsyncIterator[LogReading]:
    """Open a log at its present size, for the duration of the questions."""
    engine = make_engine(dsn)
    try:
        yield await LogReading.at_present(engine, log)
    finally:
        await engine.dispose()
