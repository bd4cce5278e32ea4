"""The served API, put together and begun."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from api.serving import serve
from recorder.admin.tokens import TokenFile
from recorder.collector import prompt_collector
from recorder.knowledge import load
from recorder.settings import Settings
from recorder.wiring.addresses import announced
from recorder.wiring.reading import open_logs

__all__ = ["serving"]


@asynccontextmanager
async def serving(
    settings: Settings,
    stop: asyncio.Event,
    *,
    listen: str | None = None,
    any_port: bool = False,
) -> AsyncIterator[str]:
    """Serve the logs of the settings while entered; yield the address.

    The stop ends what is told on and on, so that leaving takes no time.

    Args:
        settings: which database, and where to listen.
        stop: set when the end is wanted.
        listen: instead of the address of the settings.
        any_port: whether another port will do, where this one is taken.

    Raises:
        ConfigError: the address, the tokens or who may reach it.
        NothingRecordedError: nothing was ever recorded.
        SchemaError: the database is not this release's.
    """
    if listen is not None:
        settings = replace(settings, serve_listen=listen)
    knowledge = load(settings.knowledge)
    tokens = None
    if settings.token_file is not None:
        tokens = TokenFile(settings.token_file)
        # So that a file which cannot be read is told at once.
        tokens.tokens()
    prompt_collector()
    async with (
        open_logs(settings) as logs,
        serve(
            logs,
            knowledge,
            listen=settings.serve_listen,
            any_port=any_port,
            tokens=tokens,
            stop=stop,
        ) as address,
    ):
        with announced(settings, address):
            yield address
