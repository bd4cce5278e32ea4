"""Which claims the log has already.

A sender repeats a claim that was not answered, and may do so after a restart.
The newest keys are remembered here, more than can be on their way to the log;
for others the log is queried. So a claim is recognized for as long as its day
is in the database.
"""

from collections.abc import Iterable

from recorder.model.observation import CloudEventPosted, Observation

REMEMBERED_MAX = 1 << 15
"""Keys, of some 150 bytes each. What is taken and not committed is less."""


class KnownClaims:
    """The known claims, by their keys."""

    def __init__(self) -> None:
        self._known: dict[str, None] = {}
        self.repeated = 0
        """Claims that were not new."""

    def wanted(self, observations: Iterable[Observation]) -> list[str]:
        """Return the keys for which the log must be queried."""
        keys = {
            observation.key
            for observation in observations
            if isinstance(observation, CloudEventPosted)
            and observation.key is not None
        }
        return sorted(keys - self._known.keys())

    def know(self, keys: Iterable[str]) -> None:
        """Note what the log holds."""
        for key in keys:
            self._remember(key)

    def is_new(self, key: str | None) -> bool:
        """Return whether a claim is new, and remember it.

        One without a key, of an older tape, always is.
        """
        if key is None:
            return True
        if key in self._known:
            self.repeated += 1
            return False
        self._remember(key)
        return True

    def _remember(self, key: str) -> None:
        self._known[key] = None
        while len(self._known) > REMEMBERED_MAX:
            del self._known[next(iter(self._known))]
