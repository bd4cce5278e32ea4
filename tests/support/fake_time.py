"""Time that passes only when nothing is left to do, and a clock to set.

On this loop an hour of waiting takes no time: when no socket is ready, the
clock moves on to the next timer. The sockets are real, and a client on
loopback within one process finds at once what was sent. So every timeout can
be what it is in life, and what a seed decided happens in the same order again.

Not for tests that start processes or threads: time would run away from them.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

__all__ = ["Loop", "WallClock", "run"]

BEGINNING = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
WORK_SECONDS = 0.00001
"""What one round of the loop takes, so that no two moments are the same."""

STUCK_SECONDS = 5.0
"""Of real time without a timer or an answer: nothing will ever happen."""

Result = TypeVar("Result")


class _Selector(selectors.DefaultSelector):
    """Waits for sockets in no time."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000_000.0

    def select(
        self, timeout: float | None = None
    ) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += WORK_SECONDS
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        ready = super().select(0)  # the kernel may have delivered since
        if ready:
            return ready
        if timeout is None:
            ready = super().select(STUCK_SECONDS)
            if not ready:
                msg = "every task waits, and nothing will ever happen"
                raise RuntimeError(msg)
            return ready
        self.now += timeout
        return []


class Loop(asyncio.SelectorEventLoop):
    """An event loop whose time is not that of the world."""

    def __init__(self) -> None:
        self._selector_of_ours = _Selector()
        super().__init__(self._selector_of_ours)

    def time(self) -> float:
        """Return the seconds that passed in the test."""
        return self._selector_of_ours.now

    def run_in_executor(  # type: ignore[override]
        self, _: object, function: Callable[..., Any], *given: Any
    ) -> asyncio.Future[Any]:
        """Run at once what would run in a thread: time waits for none."""
        future = self.create_future()
        try:
            future.set_result(function(*given))
        except Exception as exc:  # noqa: BLE001 - of who waits for it
            future.set_exception(exc)
        return future


def run(
    main: Callable[[], Coroutine[Any, Any, Result]],
    *,
    complaints: list[str] | None = None,
) -> Result:
    """Run until done; collect the errors that no task received."""

    def complain(_: asyncio.AbstractEventLoop, said: dict[str, Any]) -> None:
        if complaints is not None:
            what = said.get("exception") or said.get("future") or ""
            complaints.append(f"{said.get('message')}: {what!r}")

    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.get_loop().set_exception_handler(complain)
        return runner.run(main())


class WallClock:
    """The clock of the recording machine; a test may set it."""

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._began = steady()
        self.jumps: list[tuple[float, float]] = []
        """When, in steady time, and by how many seconds."""

    def now(self) -> datetime:
        """Return the time that it shows."""
        return self.shown(self._steady())

    def shown(self, at: float) -> datetime:
        """Return the time that it showed at a steady time."""
        moved = sum(seconds for then, seconds in self.jumps if then <= at)
        return BEGINNING + timedelta(seconds=at - self._began + moved)

    def jump(self, seconds: float) -> None:
        """Set it, forward when positive."""
        self.jumps.append((self._steady(), seconds))

    def offsets(self) -> Sequence[float]:
        """Return by how many seconds it was wrong, one after the other."""
        total, found = 0.0, [0.0]
        for _, seconds in self.jumps:
            total += seconds
            found.append(total)
        return found
