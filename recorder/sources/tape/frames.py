"""Reading frames: one line of a tape, one observation.

Pure, and the counterpart of `lines`: a line that is read and written again
holds the same documents byte for byte (`wire` documents the one exception),
and an observation that is written and read again is equal. Unknown fields are
ignored; an unknown kind of frame is an error, because skipping a line would
skip history.
"""

import re
from functools import lru_cache

import msgspec

from recorder.model.observation import (
    AUDIT,
    CLOUDEVENTS,
    SLURM,
    WATCH,
    ListPage,
    Observation,
)
from recorder.sources.tape.kinds import KINDS, Frame
from recorder.sources.tape.surrogates import hidden, revealed
from recorder.sources.tape.wire import LineError, checked_utf8, quoted

SOURCES = frozenset({WATCH, AUDIT, CLOUDEVENTS, SLURM})
"""Where frames come from; the log has a number for each."""

NAME_LENGTH_MAX = 1_000
"""Of a resource, a version or a kind, in characters: those of Kubernetes are
shorter than 320."""

_NAME = re.compile(f"[^\x00\ud800-\udfff]{{0,{NAME_LENGTH_MAX}}}")
"""Text that PostgreSQL can store."""


@lru_cache(4096)
def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


class UnknownKindError(LineError):
    """The line is a frame of a kind that this version does not know."""


class _Kind(msgspec.Struct):
    """Only the field that identifies the kind of a frame."""

    frame: str


_decode = msgspec.json.Decoder(Frame).decode
_decode_kind = msgspec.json.Decoder(_Kind).decode


def observation_of(line: bytes) -> Observation:
    """Parse one line, without its newline.

    Raises:
        UnknownKindError: it is a frame of an unknown kind.
        LineError: it is not a frame; the message says what is wrong with it.
    """
    checked_utf8(line)
    try:
        return _observation(line)
    except msgspec.DecodeError as exc:
        halves_hidden = hidden(line)
        if halves_hidden is None or halves_hidden == line:
            msg = f"invalid JSON: {exc}"
            raise LineError(msg) from exc
    try:
        return revealed(_observation(halves_hidden))
    except msgspec.DecodeError as exc:
        msg = f"invalid JSON: {exc}"
        raise LineError(msg) from exc


def _observation(line: bytes) -> Observation:
    """Decode a line; raise msgspec's own error if it is not JSON."""
    try:
        frame: Frame = _decode(line)
        return _checked(frame.observation())
    except msgspec.ValidationError as exc:
        raise _misfit(line, exc) from exc
    except RecursionError as exc:
        msg = "invalid JSON: nested deeper than can be read"
        raise LineError(msg) from exc
    except OverflowError as exc:
        msg = 'the time "at" lies outside the years 1 to 9999'
        raise LineError(msg) from exc


def _checked(observation: Observation) -> Observation:
    """Reject names that no column of the log can hold.

    Raises:
        LineError: there is one; the message shows its beginning.
    """
    if observation.source not in SOURCES:
        msg = (
            f"unknown source {quoted(observation.source)}: this version "
            f"knows {', '.join(sorted(SOURCES))}"
        )
        raise LineError(msg)
    name = str(getattr(observation, "resource", ""))
    if not _is_name(name):
        raise _no_name(name)
    if isinstance(observation, ListPage):
        for name in (observation.resource_version, observation.kind or ""):
            if not _is_name(name):
                raise _no_name(name)
    return observation


def _no_name(text: str) -> LineError:
    return LineError(
        f"not a name: {quoted(text)} holds a NUL or has more than "
        f"{NAME_LENGTH_MAX} characters"
    )


def _misfit(line: bytes, exc: msgspec.ValidationError) -> LineError:
    """Return why a line that is JSON is not one of our frames."""
    try:
        kind = _decode_kind(line).frame
    except (msgspec.DecodeError, RecursionError):
        return LineError(f"not a frame: {exc}")
    if kind not in KINDS:
        return UnknownKindError(
            f"unknown frame {quoted(kind)}: this version knows "
            f"{', '.join(KINDS)}; use the version of recorder that wrote it"
        )
    return LineError(f'not a frame of kind "{kind}": {exc}')
