"""/healthz, /readyz and /metrics."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from recorder.errors import ConfigError
from recorder.health.metrics import exposition
from recorder.intake.progress import Progress

__all__ = ["HealthServer", "ListenError", "listening"]


class ListenError(ConfigError):
    """The address to listen on cannot be used."""

    code = "config.listen"
    exit_status = 1


Ready = Callable[[], tuple[str, bool]]
"""Returns what is so, and whether that is ready."""


class HealthServer:
    """Answers probes and scrapes from a `Progress`."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def listen(self, address: str) -> AbstractAsyncContextManager[str]:
        """Serve until left; yield the address in use.

        Args:
            address: ``HOST:PORT``; port 0 takes a free one.

        Raises:
            ListenError: the address is malformed or taken.
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
            behind = "".join(
                f"\nthe audit log {path} is not read: {why}"
                for path, why in sorted(unread.items())
            )
            return f"{progress.state}{more}{behind}", True
        state = progress.state
        state = "waiting" if state == "recording" else state
        return f"{state}: {lacks}", False


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
        ready: says whether it is ready.
        metrics: returns what is scraped.
        setting: which says the address, for who has to change it.

    Raises:
        ListenError: the address is malformed or taken.
    """
    host, colon, port = address.rpartition(":")
    if not (colon and port.isdecimal()):
        msg = f'cannot listen on "{address}": write HOST:PORT'
        raise ListenError(msg)

    async def healthz(_: web.Request) -> web.Response:
        # That this answers shows that the event loop turns.
        return web.Response(text="ok\n")

    async def readyz(_: web.Request) -> web.Response:
        says, is_ready = ready()
        return web.Response(text=f"{says}\n", status=200 if is_ready else 503)

    async def scraped(_: web.Request) -> web.Response:
        headers = {"Content-Type": CONTENT_TYPE_LATEST}
        return web.Response(body=metrics(), headers=headers)

    app = web.Application()
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", scraped)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host.strip("[]"), int(port))
        try:
            await site.start()
        except OSError as exc:
            msg = (
                f"cannot listen on {address} for health and metrics:"
                f" {exc.strerror}; choose another with {setting}"
            )
            raise ListenError(msg) from exc
        bound = runner.addresses[0]
        yield f"{bound[0]}:{bound[1]}"
    finally:
        await runner.cleanup()
