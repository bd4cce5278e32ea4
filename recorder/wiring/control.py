"""Ask a running recorder on this machine for a tape.

A unix socket in the data folder, for its owner alone. One line of JSON names
the file, lines of JSON say how many frames it holds; closing the connection
closes the tape. The recorder writes the file itself, so that its frames are
encoded once.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import orjson

from recorder.model.errors import ConfigError, RecorderError
from recorder.model.settings import Settings
from recorder.sources.tape import TapeTee, TapeWriter
from recorder.wiring.live import LiveRecording

SOCKET = "control.sock"
REPORT_SECONDS = 1.0
LINE_BYTES = 64 << 10
SOCKET_PATH_MAX = 107


class NoRecorderError(ConfigError):
    """No recorder runs here that could be asked."""

    code = "control.no_recorder"
    exit_status = 1


@asynccontextmanager
async def control(
    settings: Settings, live: LiveRecording
) -> AsyncIterator[None]:
    """Answer while entered."""
    connections = _Connections(live)
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    path = settings.data_dir / SOCKET
    path.unlink(missing_ok=True)
    with _short(path) as short:
        before = os.umask(0o077)
        try:
            server = await asyncio.start_unix_server(
                connections.serve, short, limit=LINE_BYTES
            )
        finally:
            os.umask(before)
        try:
            yield
        finally:
            server.close()
            await connections.end()
            path.unlink(missing_ok=True)


class _Connections:
    """The connections that are open, to be ended with the server."""

    def __init__(self, live: LiveRecording) -> None:
        self._live = live
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None, "a connection has a task"
        self._tasks.add(task)
        try:
            await _serve(reader, writer, self._live)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def end(self) -> None:
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


async def _serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    live: LiveRecording,
) -> None:
    try:
        asked = orjson.loads(await reader.readline())
        path = Path(asked["tape"])
    except (ValueError, KeyError, TypeError):
        await _send(writer, {"error": "the request is invalid"})
        return
    try:
        await _record(path, reader, writer, live)
    except RecorderError as exc:
        await _send(writer, {"error": str(exc)})


async def _record(
    path: Path,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    live: LiveRecording,
) -> None:
    recording = live.recording
    if recording is None or not recording.is_recording:
        msg = f"the recorder is {live.progress.state}: nothing to record"
        raise NoRecorderError(msg)
    with TapeWriter(path, live.tape_header()) as tape:
        tee = TapeTee(tape)
        try:
            await recording.tee(tee)
            while not reader.at_eof():
                tee.check()
                await _send(writer, {"frames": tape.frames})
                with suppress(TimeoutError):
                    async with asyncio.timeout(REPORT_SECONDS):
                        await reader.read(1)
                tape.flush()
        finally:
            recording.untee(tee)


async def _send(writer: asyncio.StreamWriter, line: dict[str, Any]) -> None:
    with suppress(ConnectionError):
        writer.write(orjson.dumps(line) + b"\n")
        await writer.drain()


async def ask_for_tape(
    settings: Settings, path: Path, stop: asyncio.Event
) -> AsyncIterator[int]:
    """Have the running recorder write a tape until a stop is wanted.

    Yields the number of frames about once a second.

    Raises:
        NoRecorderError: none runs with this data folder, or it refuses.
    """
    try:
        with _short(settings.data_dir / SOCKET) as short:
            reader, writer = await asyncio.open_unix_connection(short)
    except OSError as exc:
        msg = (
            "cannot record a tape: no recorder runs with"
            f' "{settings.data_dir}" on this machine; start one: recorder up'
        )
        raise NoRecorderError(msg) from exc
    try:
        await _send(writer, {"tape": str(path)})
        while not stop.is_set():
            try:
                async with asyncio.timeout(REPORT_SECONDS):
                    line = await reader.readline()
            except TimeoutError:
                continue
            if not line:
                msg = f'the recorder stopped; "{path}" is complete until then'
                raise NoRecorderError(msg)
            report = orjson.loads(line)
            if "error" in report:
                raise NoRecorderError(report["error"])
            yield report["frames"]
    finally:
        writer.close()


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """Yield a name of a socket that fits the 107 bytes an address may have."""
    if len(os.fsencode(path)) < SOCKET_PATH_MAX:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_PATH)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
