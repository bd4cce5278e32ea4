"""A recorder as a process that is killed, frozen and watched."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.cluster.waiting import until

__all__ = ["Recorder", "command"]

MODULE = "tests.survival.recorder_command"
TREE = Path(__file__).parents[2]
STOP_SECONDS = 30
COMMAND_SECONDS = 300


class Recorder:
    """One recorder and those that come after it under the same name."""

    def __init__(
        self, name: str, folder: Path, settings: Mapping[str, str]
    ) -> None:
        self.name = name
        self.settings = dict(settings)
        self.said = folder / f"{name}.said"
        self._process: subprocess.Popen[bytes] | None = None
        self._said_before = 0

    @property
    def pid(self) -> int | None:
        """The process, or None if there is none that runs."""
        process = self._process
        if process is None or process.poll() is not None:
            return None
        return process.pid

    def start(self) -> None:
        """Start it."""
        assert self.pid is None, f"{self.name} runs already"
        with self.said.open("ab") as said:
            self._said_before = said.tell()
            self._process = subprocess.Popen(
                [sys.executable, "-m", MODULE, "record"],
                cwd=TREE,
                env=environment(self.settings),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    def kill(self) -> None:
        """SIGKILL it; nothing of it is left."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(STOP_SECONDS)

    def pause(self) -> None:
        """Freeze it."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Resume it."""
        self._signal(signal.SIGCONT)

    async def stop(self) -> int:
        """SIGTERM it, once it is up; return its exit status."""
        process = self._process
        assert process is not None, "it was started"
        await until(
            lambda: process.poll() is not None or self._has_spoken(),
            f"{self.name} is up",
        )
        self._signal(signal.SIGTERM)
        await until(
            lambda: process.poll() is not None,
            f"{self.name} stopped",
            seconds=STOP_SECONDS,
        )
        return process.returncode

    def last_words(self) -> str:
        """Return the end of its output."""
        if not self.said.exists():
            return ""
        return self.said.read_text(errors="replace")[-2000:]

    def _has_spoken(self) -> bool:
        return self.said.stat().st_size > self._said_before

    def _signal(self, number: signal.Signals) -> None:
        pid = self.pid
        assert pid is not None, f"{self.name} runs: {self.last_words()}"
        os.kill(pid, number)


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a recorder: ours without its settings."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("RECORDER_", "KUBE", "PG"))
    }
    return {**inherited, **settings}


async def command(
    settings: Mapping[str, str], *words: str
) -> tuple[int, str, str]:
    """Run a command of the recorder; return status and output."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        MODULE,
        *words,
        cwd=TREE,
        env=environment(settings),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(COMMAND_SECONDS):
        out, err = await process.communicate()
    assert process.returncode is not None, "it ended"
    return process.returncode, out.decode(), err.decode()
