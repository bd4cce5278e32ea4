"""How long a reflector watches, and how long it waits after a failure."""

import random

from recorder.sources.watch.backoff import Backoff
from recorder.sources.watch.clock import Clock
from recorder.sources.watch.errors import (
    ForbiddenError,
    MissingError,
    RequestError,
    ThrottledError,
    UnauthorizedError,
    UnreachableError,
)
from recorder.sources.watch.follower import Follower
from recorder.sources.watch.settings import WatchSettings

REFUSALS = (UnauthorizedError, ForbiddenError, MissingError)


class Pacing:
    """The times of one reflector, in seconds."""

    def __init__(
        self,
        follower: Follower,
        settings: WatchSettings,
        clock: Clock,
        jitter: random.Random,
    ) -> None:
        self._follower = follower
        self._settings = settings
        self._clock = clock
        self._random = jitter
        self.backoff = Backoff(
            settings.backoff_first, settings.backoff_longest, jitter=jitter
        )
        self._refused_since: float | None = None
        """When rejections began, with no success since; steady time. A server
        that was unreachable before has only just started to reject."""

    def failed(self, error: RequestError) -> None:
        """Note a failure."""
        if not isinstance(error, REFUSALS):
            self._refused_since = None
        elif self._refused_since is None:
            self._refused_since = self._clock.monotonic()

    def healthy(self) -> None:
        """Note that a request succeeded."""
        self.backoff.reset()
        self._refused_since = None

    def is_patient(self, error: RequestError) -> bool:
        """Return whether a server that just started may have rejected it."""
        match error:
            case UnauthorizedError():
                may_be = True
            case ForbiddenError() | MissingError():
                may_be = self._follower.followed
            case _:
                may_be = False
        since = self._refused_since
        patience = self._settings.refusal_patience
        return (
            may_be
            and since is not None
            and self._clock.monotonic() - since < patience
        )

    def delay(self, error: RequestError) -> float:
        """Return how long to wait after a failure."""
        jitter = self._random.uniform(1.0, 1.25)
        match error:
            case ForbiddenError() if not self.is_patient(error):
                return self._settings.refused_again * jitter
            case ThrottledError(retry_after=asked) if asked:
                return min(asked, self._settings.throttled_longest) * jitter
            case UnreachableError():
                longest = self._settings.backoff_away
                return min(self.backoff.delay(), longest / jitter)
            case _:
                return self.backoff.delay()

    def duration(self) -> int:
        """Choose how long to watch, in whole seconds as the API takes them."""
        if not self._follower.marked:
            longest = self._settings.watch_unmarked
        else:
            longest = self._random.uniform(
                self._settings.watch_shortest, self._settings.watch_longest
            )
        if self._follower.lost:
            longest = min(longest, self._settings.watch_proof)
        return max(1, int(longest))

    def idle(self, seconds: int) -> float:
        """Return how long a watch of this duration may be silent."""
        patience = seconds + self._settings.idle_grace
        if self._follower.marked:
            return min(patience, self._settings.idle)
        return patience
