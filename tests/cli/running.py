"""The command as a process of its own, for what a process alone can show."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

__all__ = ["started"]


@asynccontextmanager
async def started(
    *words: str,
    url: str,
    program: Sequence[str] = ("-m", "recorder"),
    **more: str,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a command line, of a program in Python; end it in any case."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("RECORDER_")
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *program,
        *words,
        env={
            **environment,
            "KUBECONFIG": "/nonexistent",
            "RECORDER_DATABASE_URL": url,
            **more,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
