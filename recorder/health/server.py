"""/healthz, /readyz and /metrics."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from recorder.errors import ConfigError
from recorder.health.metrics import exposition
from recorder.intake.progress import Progress

__all__ = ["HealthServer", "ListenError"]


class ListenError(ConfigError):
    """The address to listen on cannot be used."""

    code = "config.listen"
    exit_status = 1


class HealthServer:
    """Answers probes and scrapes from a `Progress`."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    @asynccontextmanager
    async def listen(self, address: str) -> AsyncIterator[str]:
        """Serve until left; yield the address in use.

        Args:
            address: ``HOST:PORT``; port 0 takes a free one.

        Raises:
            ListenError: the address is malformed or taken.
        """
        host, colon, port = address.rpartition(":")
        if not (colon and port.isdecimal()):
            msg = f'cannot listen on "{address}": write HOST:PORT'
            raise ListenError(msg)
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        try:
            site = web.TCPSite(runner, host.strip("[]"), int(port))
            try:
                await site.start()
            except OSError as exc:
                msg = (
                    f"cannot listen on {address} for health and metrics:"
                    f" {exc.strerror}; choose another with health_listen"
                )
                raise ListenError(msg) from exc
            bound = runner.addresses[0]
            yield f"{bound[0]}:{bound[1]}"
        finally:
            await runner.cleanup()

    async def _healthz(self, _: web.Request) -> web.Response:
        # That this answers shows that the event loop turns.
        return web.Response(text="ok\n")

    async def _readyz(self, _: web.Request) -> web.Response:
        progress = self._progress
        lacks = progress.lacks()
        if lacks is None:
            more = f": {progress.waiting_for}" if progress.waiting_for else ""
            return web.Response(text=f"{progress.state}{more}\n")
        state = progress.state
        state = "waiting" if state == "recording" else state
        return web.Response(text=f"{state}: {lacks}\n", status=503)

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(
            body=exposition(self._progress),
            headers={"Content-Type": CONTENT_TYPE_LATEST},
        )
