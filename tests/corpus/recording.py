"""Recording a real cluster with the real command, to a log and a tape."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import yaml

__all__ = ["RecorderProcess", "named_context", "recording"]

READY_SECONDS = 30
STOP_SECONDS = 15


class RecorderProcess:
    """A recorder in a process of its own."""

    def __init__(
        self, arguments: list[str], environment: Mapping[str, str]
    ) -> None:
        self._arguments = arguments
        self._environment = environment
        self._process: asyncio.subprocess.Process | None = None
        self.said = ""
        """What it wrote to stderr so far, once it ended."""
        self.printed = ""
        """What it wrote to stdout, if that was kept."""

    async def start(self, *, keep_output: bool = False) -> None:
        """Start it; what it prints is kept if that is wanted."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("RECORDER_", "KUBE"))
        }
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "recorder",
            *self._arguments,
            env={**inherited, **self._environment},
            stdout=asyncio.subprocess.PIPE if keep_output else None,
            stderr=asyncio.subprocess.PIPE,
        )

    def kill(self) -> None:
        """SIGKILL it."""
        assert self._process is not None
        self._process.kill()

    async def stop(self) -> int:
        """SIGTERM it; return its exit status."""
        assert self._process is not None
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)
        return await self.ended()

    async def ended(self) -> int:
        """Wait for its end; return its exit status."""
        assert self._process is not None
        async with asyncio.timeout(STOP_SECONDS):
            printed, said = await self._process.communicate()
        self.said += said.decode()
        self.printed += (printed or b"").decode()
        status = self._process.returncode
        assert status is not None
        return status


def named_context(kubeconfig: Path, name: str, copy: Path) -> Path:
    """Write a copy of a kubeconfig whose context has another name."""
    content = yaml.safe_load(kubeconfig.read_text())
    content["contexts"][0]["name"] = name
    content["current-context"] = name
    copy.write_text(yaml.safe_dump(content))
    copy.chmod(0o600)
    return copy


@asynccontextmanager
async def recording(
    kubeconfig: Path, data_dir: Path, *arguments: str, **settings: str
) -> AsyncIterator[RecorderProcess]:
    """Record while entered, and stop cleanly.

    Further ``settings`` are environment variables without their prefix.
    """
    process = RecorderProcess(
        ["record", *arguments],
        {
            "RECORDER_KUBECONFIG": str(kubeconfig),
            "RECORDER_DATA_DIR": str(data_dir),
            "RECORDER_HEALTH_LISTEN": "127.0.0.1:0",
            **{f"RECORDER_{k.upper()}": v for k, v in settings.items()},
        },
    )
    await process.start()
    try:
        yield process
    finally:
        await process.stop()
