"""A wire between a kubelet and the API server that can be cut.

The kubelet of a machine that is cut off runs on, and so do its containers:
what a partition is, and a stopped process is not.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from tests.corpus.stage import Stage

__all__ = ["Wire", "cut_off"]

CHUNK = 1 << 16


class Wire:
    """Hands bytes on in both directions until it is cut."""

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._whole = asyncio.Event()
        self._whole.set()

    def cut(self) -> None:
        """Stop all bytes; they arrive once the connection is restored."""
        self._whole.clear()

    def mend(self) -> None:
        """Restore the connection."""
        self._whole.set()

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Carry one connection."""
        with suppress(OSError):
            await self._whole.wait()
            there, back = await asyncio.open_connection(*self._server)
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._carry(reader, back))
                    group.create_task(self._carry(there, writer))
            except* OSError:
                pass
            finally:
                back.close()
                writer.close()

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while data := await reader.read(CHUNK):
            await self._whole.wait()
            writer.write(data)
            await writer.drain()
        with suppress(OSError):
            writer.close()


@asynccontextmanager
async def cut_off(stage: Stage, node: str) -> AsyncIterator[Wire]:
    """Lead a kubelet through a wire; it is restarted for that."""
    server = urlsplit(stage.cluster.server)
    assert server.hostname is not None
    assert server.port is not None
    wire = Wire(server.hostname, server.port)
    listening = await asyncio.start_server(wire.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    kubelet = stage.machine(node).kubelet
    wired = await asyncio.to_thread(
        _led_through, Path(str(kubelet.flags["kubeconfig"])), port
    )
    try:
        await stage.machine(node).restart_kubelet(kubeconfig=str(wired))
        await stage.pause(12)
        await stage.ready(node)
        yield wire
    finally:
        await kubelet.kill()
        listening.close()


def _led_through(whole: Path, port: int) -> Path:
    """Write a copy of a kubeconfig whose server is the wire."""
    content = yaml.safe_load(whole.read_text())
    content["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{port}"
    wired = whole.with_name(f"{whole.name}-wired")
    wired.write_text(yaml.safe_dump(content))
    return wired
