"""The served API, put together and begun.

The API is a package of its own beside `recorder`, which nothing imports but
by this module: in an installation it lies in a folder within `recorder`,
because a package called ``api`` at the top would take the place of somebody
else's.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from recorder.admin.tokens import TokenFile
from recorder.collector import prompt_collector
from recorder.errors import ConfigError
from recorder.knowledge import load
from recorder.settings import Settings
from recorder.wiring.addresses import announced
from recorder.wiring.reading import open_logs

__all__ = ["serving"]

PACKAGED = Path(__file__).parents[1] / "served"
CHECKOUT = Path(__file__).parents[2]


class ServedError(ConfigError):
    """The package of the API is not there, or is somebody else's."""

    code = "config.api"
    exit_status = 1


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
    served = _served()
    knowledge = load(settings.knowledge)
    path = settings.token_file
    prompt_collector()
    async with (
        open_logs(settings) as logs,
        served.serve(
            logs,
            knowledge,
            listen=settings.serve_listen,
            any_port=any_port,
            tokens=None if path is None else TokenFile(path),
            stop=stop,
        ) as address,
    ):
        with announced(settings, address):
            yield address


def _served() -> Any:
    """Import the API: ours, whatever else is called so."""
    folder = PACKAGED if PACKAGED.is_dir() else CHECKOUT
    sys.path.insert(0, str(folder))
    package = import_module("api")
    found = Path(package.__file__ or "").resolve()
    if not found.is_relative_to(folder.resolve()):
        msg = f"cannot serve: another package called api is loaded: {found}"
        raise ServedError(msg)
    return import_module("api.serving")
