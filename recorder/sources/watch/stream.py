"""One watch request, from its response to its end.

Yields the frames as they arrive, in portions of what the connection held. Each
way to end has one meaning: the iteration ends when the server ended the
stream, `ExpiredError` means that it no longer holds our version, and
`StreamLostError` that the connection broke or a frame was cut short. A line
that cannot be parsed is yielded as refused, and the stream continues.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import (
    Asked,
    StreamLostError,
    error_for,
)
from recorder.sources.watch.frames import (
    Failed,
    Frame,
    Refused,
    read_frame,
    refuse,
)
from recorder.sources.watch.lateness import Pace
from recorder.sources.watch.splitter import Oversized, Splitter
from recorder.sources.watch.target import Target
from recorder.sources.watch.transport import Answer

_EXPIRED = 410


@dataclass(frozen=True, slots=True)
class WatchStream:
    """An open watch."""

    _client: ClusterClient
    _answer: Answer
    _asked: Asked

    async def portions(
        self,
    ) -> AsyncGenerator[Sequence[Frame | Refused]]:
        """Yield the frames, in the order sent.

        Raises:
            ExpiredError: the version has expired; all frames were yielded.
            StreamLostError: the rest of the frames, if any, is lost.
        """
        settings = self._client.settings
        splitter = Splitter(
            frame_bytes_max=settings.frame_bytes_max,
            head_bytes=settings.refused_head_bytes,
        )
        pace = Pace(settings.trickle, settings.drained)
        async for chunk in self._answer.chunks():
            is_slow = pace.came(self._client.clock.monotonic())
            portion: list[Frame | Refused] = []
            for line in splitter.feed(chunk):
                frame = self._read(line)
                if is_slow and isinstance(frame, Frame):
                    frame = replace(frame, late=True)
                if isinstance(frame, Failed):
                    if portion:
                        yield portion
                    raise error_for(self._asked, _EXPIRED, frame.status)
                portion.append(frame)
            pace.left(splitter.partial, whole=bool(portion))
            if portion:
                yield portion
        if splitter.partial:
            msg = f"cannot {self._asked}: the last frame was cut short"
            raise StreamLostError(msg)

    def _read(self, line: bytes | Oversized) -> Frame | Failed | Refused:
        head_bytes = self._client.settings.refused_head_bytes
        frame = read_frame(line, head_bytes=head_bytes)
        if isinstance(frame, Failed) and frame.code != _EXPIRED:
            reason = f"error frame {frame.code}: {frame.message[:300]}"
            return refuse(frame.line, reason, head_bytes=head_bytes)
        return frame


@asynccontextmanager
async def open_watch(
    client: ClusterClient,
    target: Target,
    version: str,
    *,
    seconds: int,
    idle: float,
) -> AsyncIterator[WatchStream]:
    """Watch a resource from a version on, for a number of seconds.

    Raises:
        RequestError: the watch was rejected.
    """
    what = str(target.resource)
    params = {
        "watch": "1",
        "resourceVersion": version,
        "timeoutSeconds": str(seconds),
        "allowWatchBookmarks": "true",
    }
    async with client.stream(
        target.path, what=what, params=params, idle=idle
    ) as answer:
        yield WatchStream(client, answer, answer.asked)
