"""A tape, put together with the log that it is played into."""

import asyncio
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recorder.intake.committing import Policy
from recorder.intake.progress import Progress
from recorder.intake.recording import Recording
from recorder.keeping.budget import room_guard
from recorder.keeping.collector import calm_collector
from recorder.keeping.redaction_key import load_key, make_redaction
from recorder.model.observation import TAPE
from recorder.model.settings import Settings
from recorder.sources.tape import (
    TapeProgress,
    TapeReader,
    TapeSource,
    tape_identity,
)
from recorder.store.writer import LogSpec, Writer, holder_name


@dataclass(frozen=True, slots=True)
class PlayedTape:
    """The result of playing a tape."""

    cluster: str
    """The name of its log."""

    progress: Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Playing:
    """How a tape is to be played."""

    path: Path
    cluster: str | None = None
    """Name of the log; None for the tape's own."""

    speed: float | None = None
    """Times faster than it happened; None for as fast as possible."""

    on_progress: Callable[[TapeProgress], None] | None = None


def see_tape(path: Path) -> None:
    """Check that a file begins as a tape, before a database is opened.

    Raises:
        TapeError: it is none, or cannot be read.
    """
    with TapeReader(path):
        pass


async def play_tape(
    playing: Playing, settings: Settings, dsn: str, stop: asyncio.Event
) -> PlayedTape:
    """Play a tape into a log of its own, from where it stopped last time.

    Raises:
        TapeError: the tape cannot be read further; what came before that is
            in the log.
    """
    calm_collector()
    with TapeReader(playing.path) as reader:
        header = reader.header
    spec = LogSpec(
        cluster_name=playing.cluster or header.cluster,
        cluster_uid=header.cluster_uid,
        kubernetes=header.kubernetes,
        redaction_key_id=header.redaction_key_id,
        tape_uid=header.tape_uid or tape_identity(playing.path),
    )

    tape = TapeSource(
        playing.path, speed=playing.speed, on_progress=playing.on_progress
    )
    holder = holder_name(socket.gethostname(), os.getpid())
    recording = Recording(
        Writer(dsn, spec, holder=holder),
        make_redaction(settings, load_key(settings)),
        policy=Policy(event_ttl=settings.event_ttl, checked=True),
        has_room=room_guard(settings),
    )
    await recording.run({TAPE: tape}, stop)
    return PlayedTape(spec.cluster_name, recording.progress)
