"""/healthz, /readyz and /metrics."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router

from recorder import listening as server
from recorder.doctor.health.metrics import exposition
from recorder.intake.progress import Progress

BOUNDS = server.Bounds(
    connections=100, strangers=100, strangers_of_a_peer=50, idle_seconds=75
)
"""No client authenticates here: kubelet and Prometheus send a request and
leave."""

BEHIND_SHOWN = 5
"""Resources that are named; a probe shows one line."""

Ready = Callable[[], tuple[str, bool]]
"""Returns the status text, and whether it is ready."""


class HealthServer:
    """Answers probes and scrapes from a `Progress`."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def listen(self, address: str) -> AbstractAsyncContextManager[str]:
        """Serve until left; yield the address in use.

        Raises:
            ListenError: the address is malformed, or taken.
        """
        return listening(
            address, self._ready, lambda: exposition(self._progress)
        )

    def _ready(self) -> tuple[str, bool]:
        progress = self._progress
        lacks = progress.lacks()
        if lacks is None:
            more = f": {progress.waiting_for}" if progress.waiting_for else ""
            unread = progress.received.unread if progress.received else {}
            lost = "".join(
                f"\nthe audit log {path} is not read: {why}"
                for path, why in sorted(unread.items())
            )
            said = f"{progress.state}{more}{_behind(progress)}{lost}"
            return said + _refused(progress), True
        state = progress.state
        state = "waiting" if state == "recording" else state
        return f"{state}: {lacks}", False


def _refused(progress: Progress) -> str:
    refusal = progress.claims and progress.claims.last_refusal
    return f"\nclaims were refused, the last one: {refusal}" * bool(refusal)


def _behind(progress: Progress) -> str:
    behind = progress.behind() if progress.state == "recording" else []
    if not behind:
        return ""
    more = len(behind) - BEHIND_SHOWN
    shown = [*behind[:BEHIND_SHOWN], *([f"{more} more"] if more > 0 else [])]
    return f"; behind: {', '.join(shown)}"


@asynccontextmanager
async def listening(
    address: str,
    ready: Ready,
    metrics: Callable[[], bytes],
    *,
    setting: str = "health_listen",
) -> AsyncIterator[str]:
    """Answer probes and scrapes until left; yield the address in use.

    Args:
        address: ``HOST:PORT``; port 0 takes a free one.
        ready: returns the status, and whether it is ready.
        metrics: returns the metrics.
        setting: the setting with the address, for messages.

    Raises:
        ListenError: the address is malformed, or taken.
    """
    bound = server.bound_socket(address, setting=setting)

    async def healthz(_: Request) -> Response:
        # A response shows that the event loop is running.
        return PlainTextResponse("ok\n")

    async def readyz(_: Request) -> Response:
        says, is_ready = ready()
        return PlainTextResponse(f"{says}\n", 200 if is_ready else 503)

    async def scraped(_: Request) -> Response:
        headers = {"Content-Type": CONTENT_TYPE_LATEST}
        return Response(metrics(), headers=headers)

    routes = [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/metrics", scraped),
    ]
    async with server.listening(Router(routes), bound, BOUNDS) as used:
        yield used
