"""A tape beside a recording: its trouble is its own.

A disk that is full where the tape lies must not end the recording, so a tape
that cannot be written is given up, and says so when it is asked.
"""

from collections.abc import Sequence

from recorder.model.observation import Observation
from recorder.sources.tape import TapeWriteError, TapeWriter

__all__ = ["TapeTee"]


class TapeTee:
    """Satisfies the port `Tee`."""

    def __init__(self, writer: TapeWriter) -> None:
        self._writer = writer
        self._error: TapeWriteError | None = None

    def write(self, observations: Sequence[Observation]) -> None:
        """Write, unless a write failed before."""
        if self._error is not None:
            return
        try:
            self._writer.write(observations)
        except TapeWriteError as exc:
            self._error = exc

    def check(self) -> None:
        """See that everything was written.

        Raises:
            TapeWriteError: something was not; the tape ends there.
        """
        if self._error is not None:
            raise self._error
