"""What can be wrong with a tape, with one error for each case.

Every message names the file, the line if there is one, and what to do.
Everything before a reading error is good: the reader has yielded it, and a
player of the tape keeps it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recorder.model.errors import ConfigError, InputError, RecorderError


class TapeError(InputError):
    """A tape cannot be read further."""

    code = "input.tape"

    def __init__(self, path: Path, says: str, *, line: int | None) -> None:
        where = f'tape "{path}"'
        if line is not None:
            where += f", line {line}"
        super().__init__(f"{where}: {says}")
        self.path = path
        self.line = line
        """The line that could not be read, where the header is line 1; None if
        the error is not in a line."""


class TapeUnreadableError(TapeError):
    """The operating system does not let us read the file."""

    code = "input.tape.unreadable"


class NotATapeError(TapeError):
    """The file is something else, gzip for example."""

    code = "input.tape.other"


class TapeHeaderError(TapeError):
    """The first line is not a header, or one of an unknown version."""

    code = "input.tape.header"


class TapeDamagedError(TapeError):
    """The compressed bytes are not those that were written."""

    code = "input.tape.damaged"


class TapeTruncatedError(TapeError):
    """The tape ends within a line or within compressed bytes.

    Every complete line before that has been yielded.
    """

    code = "input.tape.truncated"


class TapeLineTooLongError(TapeError):
    """A line is longer than the reader is allowed to hold."""

    code = "input.tape.line"


class TapeFrameError(TapeError):
    """A line is not a frame: no JSON, no UTF-8, missing or wrong fields."""

    code = "input.tape.frame"


class UnknownFrameError(TapeFrameError):
    """A frame is of a kind that this version does not know."""

    code = "input.tape.kind"


class TapeExistsError(ConfigError):
    """A tape would overwrite a file."""

    code = "config.tape_exists"


class TapeWriteError(RecorderError):
    """A tape cannot be written further."""

    code = "tape.write"


@contextmanager
def translate_reading(path: Path) -> Iterator[None]:
    """Re-raise errors of the operating system as `TapeUnreadableError`."""
    try:
        yield
    except OSError as exc:
        says = f"cannot be read: {exc.strerror or exc}"
        raise TapeUnreadableError(path, says, line=None) from exc


@contextmanager
def translate_writing(path: Path) -> Iterator[None]:
    """Re-raise errors of the operating system as `TapeWriteError`."""
    try:
        yield
    except OSError as exc:
        msg = f'cannot write tape "{path}": {exc.strerror or exc}'
        raise TapeWriteError(msg) from exc
