"""When a process that died may be started again.

At once the first time; then after pauses that double with every start that
failed. A process that became ready and was killed restarts after a second,
however often.
"""

import time
from dataclasses import dataclass

_FIRST_SECONDS = 1.0
_LONGEST_SECONDS = 10.0
"""A full disk may last for hours, and retries do not fill it further; an
operator who made room waits no longer than this."""


@dataclass(slots=True)
class Backoff:
    """The pause between two starts of one process."""

    seconds: float = 0.0
    until: float = 0.0

    def is_over(self) -> bool:
        """Whether it may be started now."""
        return time.monotonic() >= self.until

    def lengthen(self) -> None:
        """Count a start, which may turn out to fail."""
        doubled = max(_FIRST_SECONDS, 2 * self.seconds)
        self.seconds = min(doubled, _LONGEST_SECONDS)
        self.until = time.monotonic() + self.seconds

    def settle(self) -> None:
        """Note that the start succeeded."""
        self.seconds = 0.0
