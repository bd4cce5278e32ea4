"""How long to wait before a failed request is retried."""

import random


class Backoff:
    """Doubling waits with jitter, until something succeeds."""

    def __init__(
        self, first: float, longest: float, *, jitter: random.Random
    ) -> None:
        self._first = first
        self._longest = longest
        self._jitter = jitter
        self._next = first

    def delay(self) -> float:
        """Return the next wait, between half of its nominal length and all."""
        nominal = self._next
        self._next = min(nominal * 2, self._longest)
        return nominal * self._jitter.uniform(0.5, 1.0)

    def reset(self) -> None:
        """Restart with the shortest wait."""
        self._next = self._first
