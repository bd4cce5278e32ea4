"""Playing a tape of the corpus into a log in memory."""

from collections.abc import Iterator

import orjson

from recorder.model.observation import Observation
from recorder.sources.tape.frames import observation_of
from tests.corpus.tape_lines import Frame, Lines
from tests.support.story import Story

__all__ = ["disorder", "observations", "played"]


def observations(tape: Lines) -> Iterator[Observation]:
    """Yield what a tape's frames stand for."""
    for frame in tape.frames:
        yield observation_of(orjson.dumps(frame))


def played(tape: Lines) -> Story:
    """Return what intake makes of a tape."""
    return Story(*observations(tape))


def disorder(frames: list[Frame]) -> list[str]:
    """Say where frames of one resource are not in order of their arrival.

    Streams are read side by side, so that across resources a few milliseconds
    may be out of order on a recorded tape.
    """
    latest: dict[str, str] = {}
    found = []
    for frame in frames:
        stream = f"{frame['source']} {frame.get('resource')}"
        before = latest.get(stream, "")
        if frame["at"] < before:
            found.append(f"{stream}: {before} before {frame['at']}")
        latest[stream] = frame["at"]
    return found
