"""Which share of its processor time a process spends where.

Sampled by the process itself, interrupted again and again: both parts of a
share are of the same seconds, so that it holds on a machine that is shared and
twice as slow in one minute as in the next. Slowdown elsewhere, by caches that
a function empties or on the other core, is not included.
"""

import signal
from collections import Counter
from collections.abc import Callable, Mapping
from types import CodeType, FrameType
from typing import Any, Self

__all__ = ["Shares"]

EVERY_SECONDS = 0.001
"""Of processor time; the kernel may tick less often, 250 times a second."""


class Shares:
    """Samples the main thread of a process, as a context manager."""

    def __init__(
        self, functions: Mapping[str, tuple[Callable[..., Any], ...]]
    ) -> None:
        """Take the functions by what they are for.

        A sample counts for the innermost of them, with all that it calls.
        """
        self._codes: dict[CodeType, str] = {
            function.__code__: name
            for name, several in functions.items()
            for function in several
        }
        self._found: Counter[str] = Counter()
        self._samples = 0

    def __enter__(self) -> Self:
        """Begin."""
        self._before = signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, EVERY_SECONDS, EVERY_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, self._before)

    def of(self, name: str) -> float:
        """Return a share, from 0 to 1; 0 where there is no sample."""
        return self._found[name] / max(self._samples, 1)

    def _sample(self, _: int, frame: FrameType | None) -> None:
        self._samples += 1
        while frame is not None:
            name = self._codes.get(frame.f_code)
            if name is not None:
                self._found[name] += 1
                return
            frame = frame.f_back
