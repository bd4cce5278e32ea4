"""One part of the cluster as a child process, with its flags and its log.

A part can be killed, stopped, paused and started again with other flags. It
never outlives the test: the kernel kills it when the thread that started it
ends (`leash`), and its owner kills its process group.

This knows signals and log files, not what the parts are.
"""

import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.cluster.waiting import until

__all__ = ["Part", "PartFailedError", "leash"]

START_SECONDS = 60
"""The slowest, the API server, takes 3 s alone on two cores."""

STOP_SECONDS = 30

LOG_LINES = 25

_FEWER_COLLECTIONS = {"GOGC": "400"}
"""Go then collects at five times what lives, not at twice: a control plane
starts with a seventh less processor time, and there is memory enough."""


class PartFailedError(Exception):
    """A part did not start, or ended; the message has its last words."""


def leash() -> dict[str, str]:
    """Return the environment that ends a child of ours when we end.

    The control plane's binary asks the kernel for it, whichever component it
    is (Linux alone has this). A ``preexec_fn`` could too, but it runs
    Python between fork and exec, which deadlocks when we have threads.
    """
    return {"DIES_WITH": str(os.getpid())}


class Part:
    """A program that runs for as long as the test lets it.

    ``flags`` become ``--name=value``; a flag whose value is None is absent.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        flags: Mapping[str, str | None],
        *,
        folder: Path,
        ready: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.name = name
        self.flags = dict(flags)
        self.log = folder / f"{name}.log"
        self.environment: dict[str, str] = {}
        """Added to our own."""

        self._command = list(command)
        self._folder = folder
        self._ready = ready
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process, or None if there is none that runs."""
        if self._process is None or self._process.poll() is not None:
            return None
        return self._process.pid

    async def start(self, **flags: str | None) -> None:
        """Start with the same flags as last time, but for those given.

        Underscores in their names are dashes. Returns when the part is
        ready.

        Raises:
            PartFailedError: It ended, or was not ready in time.
        """
        assert self.pid is None, f"{self.name} runs already"
        for name, value in flags.items():
            self.flags[name.replace("_", "-")] = value
        arguments = [
            f"--{name}={value}"
            for name, value in self.flags.items()
            if value is not None
        ]
        self._spawn(arguments)
        await self._until_ready()

    async def restart(self, **flags: str | None) -> None:
        """Kill it and start it again, with other flags if any are given."""
        await self.kill()
        await self.start(**flags)

    async def kill(self) -> None:
        """End it with SIGKILL, and everything it started."""
        if self.pid is not None:
            await self._end(signal.SIGKILL, seconds=STOP_SECONDS)

    async def stop(self, *, seconds: float = STOP_SECONDS) -> None:
        """End it with SIGTERM.

        Raises:
            TimeoutError: It did not end in time. It still runs.
        """
        if self.pid is not None:
            await self._end(signal.SIGTERM, seconds=seconds)

    def pause(self) -> None:
        """Stop it where it is: it hangs, and its connections stay open."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on after `pause`."""
        self._signal(signal.SIGCONT)

    def kill_now(self) -> None:
        """End it without waiting for an event loop: for cleaning up."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(timeout=STOP_SECONDS)

    def last_words(self, lines: int = LOG_LINES) -> str:
        """Return the end of its log."""
        if not self.log.exists():
            return ""
        text = self.log.read_text(errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def _spawn(self, arguments: Sequence[str]) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*self._command, *arguments],
                cwd=self._folder,
                env={
                    **_FEWER_COLLECTIONS,
                    **os.environ,
                    **self.environment,
                    **leash(),
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _signal(self, number: signal.Signals) -> None:
        if self.pid is None:
            message = f"{self.name} does not run"
            raise PartFailedError(message)
        os.killpg(self.pid, number)

    async def _end(self, number: signal.Signals, *, seconds: float) -> None:
        self._signal(number)
        await until(
            lambda: self.pid is None,
            f"{self.name} ended after {number.name}",
            seconds=seconds,
            every=0.01,
        )

    async def _until_ready(self) -> None:
        ready = self._ready
        if ready is None:
            return

        async def ready_or_ended() -> bool:
            return self.pid is None or await ready()

        try:
            await until(
                ready_or_ended, f"{self.name} is ready", seconds=START_SECONDS
            )
        except TimeoutError as error:
            message = f"{error}; its log ends with\n{self.last_words()}"
            raise PartFailedError(message) from None
        if self.pid is None:
            message = f"{self.name} ended; its log:\n{self.last_words()}"
            raise PartFailedError(message)
