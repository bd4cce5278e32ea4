"""Processes that keep metrics and are killed, and the recorder they post to.

They are killed at an await, or before and after a step that a thread takes
between two: on disk, or to the door.
"""

import asyncio
import functools
import json
import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from recorder.facts.metrics import METRICS
from recorder.keeping.sending import _Post, receiver_at
from recorder.keeping.spool import Spool
from recorder.wiring.measuring import SpooledDoor
from tests.claims.test_door import Doorway
from tests.crash.failpoints import Failpoints, Kill
from tests.crash.stepping import step_factory

__all__ = ["STEPS", "Lives"]

Keep = Callable[[SpooledDoor], Awaitable[None]]
STEPS = ((Spool, "put"), (Spool, "remove"), (_Post, "answer"))


class Lives:
    """Processes that keep what a story has, one after another.

    Args:
        folder: of their spool.
        keep: asks, and puts what it gets through a door.
    """

    def __init__(self, folder: Path, keep: Keep) -> None:
        self._folder = folder
        self._keep = keep
        self.way = Doorway(folder)
        secret = self.way.tokens.add(
            "measure", claims=("recorder/metrics", METRICS)
        )
        self._token = folder / "token"
        self._token.write_text(secret)
        self._token.chmod(0o600)
        self.spool = Spool(folder / "spool")

    async def _once(self) -> None:
        receiver = receiver_at(self.way.address, self._token, None)
        await self._keep(SpooledDoor(self.spool, receiver))

    def _live(self, kill: Kill | None) -> None:
        """Keep it once, under failpoints, and end this process."""
        status = 1
        try:
            points = Failpoints(kill)
            for of_class, name in STEPS:
                step = getattr(of_class, name)
                setattr(of_class, name, watched(step, points))
            with asyncio.Runner() as runner:
                runner.get_loop().set_task_factory(step_factory(points))
                runner.run(self._once())
            passed = self._folder / "passed"
            passed.write_text(json.dumps(points.passed))
            status = 0
        finally:
            os._exit(status)

    async def one(self, kill: Kill | None = None) -> int:
        """Live one life; return its status."""
        child = os.fork()
        if child == 0:
            self._live(kill)
        _, status = await asyncio.to_thread(os.waitpid, child, 0)
        return os.waitstatus_to_exitcode(status)

    def kills(self) -> Iterator[Kill]:
        """Yield where to die: at the first and the last of each step."""
        passed = json.loads((self._folder / "passed").read_text())
        for place, count in passed.items():
            yield from (Kill(place, n) for n in sorted({1, count}))


def watched(step: Any, points: Failpoints) -> Any:
    @functools.wraps(step)
    def passing(*words: Any) -> Any:
        points.pass_by(f"{step.__qualname__}, before")
        found = step(*words)
        points.pass_by(f"{step.__qualname__}, after")
        return found

    return passing
