"""One watch of the fake API server, as a real one serves it.

Read in its source (Kubernetes 1.36, `handlers/watch.go`, `storage/cacher`,
`storage/etcd3/watcher.go`): changes come from etcd, and a writer sends what
has come, in order. When the time of a watch is over it ends cleanly, and what
has not been handed to the writer is left behind: the end is chosen beside the
changes, not after them. What was written before it comes first, however slow
the line is. Hence two ways to pause:

* etcd's watches do (``flowing`` is cleared): lists and resumes are answered,
  watches end at their time, and the watch cache goes on to send bookmarks of
  the last version that it has. It knows from memory that a version is gone;
  of Events, which it does not hold, etcd would have to.
* the process does (``answering`` is cleared): it takes no request, writes
  nothing and ends nothing. When it goes on, whatever ran out ends at once.
"""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any, Protocol

from aiohttp import web

from tests.support.fake_discovery import Kind

__all__ = ["Line", "Stream", "frame", "typed"]

Body = dict[str, Any]

FLUSH_SECONDS = 0.01
"""Without it nothing is sent of what was written before a cut."""


class Line(Protocol):
    """What lies between a watch and its client; `FakeCluster`."""

    flowing: asyncio.Event
    answering: asyncio.Event
    portion: int | None
    pause: float
    cut_after: dict[str, int]
    late: dict[str, float]


@dataclass(eq=False)
class Stream:
    """One open watch: what is still to be written to it."""

    kind: Kind
    request: web.Request
    start: int
    """Nothing up to this revision is sent, even when it lies ahead."""
    line: Line
    coming: asyncio.Queue[tuple[int, bytes | None]] = field(
        default_factory=asyncio.Queue
    )
    """From etcd, by revision; None ends the watch."""
    queue: asyncio.Queue[bytes | None] = field(default_factory=asyncio.Queue)
    """For the writer."""
    is_dead: bool = False
    """Whether nothing comes any more, not even an end."""
    newest: int = 0

    @property
    def is_cached(self) -> bool:
        """Whether its history is in memory; that of Events is in etcd."""
        return self.kind.plural != "events"

    def give(self, revision: int, data: bytes | None) -> None:
        """Let something come from etcd."""
        self.coming.put_nowait((revision, data))

    def refuse(self, error: bytes) -> None:
        """Say that the version is gone, and end."""
        if self.is_cached:
            self.queue.put_nowait(error)
            self.queue.put_nowait(None)
        else:
            self.give(self.start, error)
            self.give(self.start, None)

    def mark(self, revision: int) -> None:
        """Send a bookmark: of this revision, or of the last that came."""
        if self.line.flowing.is_set():
            self.give(revision, self._bookmark(revision))
        elif self.is_cached and self.newest > self.start:
            # None of what the client had before is sent.
            self.queue.put_nowait(self._bookmark(self.newest))

    def _bookmark(self, revision: int) -> bytes:
        metadata = {"resourceVersion": str(revision)}
        return frame("BOOKMARK", self.kind, {"metadata": metadata})

    def die(self) -> None:
        """Be as a connection whose other end has vanished."""
        self.is_dead = True

    def abort(self) -> None:
        """Break the connection."""
        if self.request.transport is not None:
            self.request.transport.abort()
        self.queue.put_nowait(None)

    async def serve(
        self, response: web.StreamResponse, seconds: float
    ) -> None:
        """Write until the watch ends."""
        async with asyncio.TaskGroup() as group:
            taking = group.create_task(self._take())

            def end() -> None:
                taking.cancel()
                self.queue.put_nowait(None)

            over = asyncio.get_running_loop().call_later(seconds, end)
            try:
                await self._write(response)
            finally:
                over.cancel()
                taking.cancel()

    async def _take(self) -> None:
        while True:
            revision, data = await self.coming.get()
            await self.line.flowing.wait()
            await self.line.answering.wait()
            self.newest = max(self.newest, revision)
            self.queue.put_nowait(data)

    async def _write(self, response: web.StreamResponse) -> None:
        line = self.line
        left = line.cut_after.pop(self.kind.plural, None)
        while True:
            data = await self.queue.get()
            await line.answering.wait()
            if self.is_dead:
                await asyncio.Event().wait()
            await asyncio.sleep(line.late.get(self.kind.plural, 0.0))
            if data is None:
                return
            size = line.portion or len(data)
            for start in range(0, len(data), size):
                part = data[start : start + size][:left]
                if part:
                    await response.write(part)
                    await asyncio.sleep(line.pause)
                if left is not None:
                    left -= len(part)
                    if left == 0:
                        await asyncio.sleep(FLUSH_SECONDS)
                        self.abort()
                        return


def typed(kind: Kind, made: Body) -> Body:
    return {"kind": kind.kind, "apiVersion": kind.api_version, **made}


def frame(event: str, kind: Kind, made: Body) -> bytes:
    body = {"type": event, "object": typed(kind, made)}
    return json.dumps(body, separators=(",", ":")).encode() + b"\n"
