"""Addresses of the page's views, as links that show every user the same.

The server on this machine leaves its address in the data folder, so that one
on a free port is found too, and an identifier: if that server was killed,
another one may answer at the address.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum, auto
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

from recorder.model.settings import Settings

FILE = "serve.address"
INSTANCE = "Recorder-Instance"
PROBE_SECONDS = 1.0
"""Enough for a server on this machine."""


class Server(Enum):
    """Which server answers at an address."""

    OURS = auto()
    """The one that was started from this data folder."""

    NONE = auto()
    ANOTHER = auto()


@dataclass(frozen=True, slots=True)
class Page:
    """The address of the page, and which server answers there."""

    address: str
    server: Server


@contextmanager
def announced(
    settings: Settings, address: str, instance: str
) -> Iterator[None]:
    """Leave an address and its instance in the data folder while entered."""
    path = _file(settings)
    fresh = path.with_name(f"{FILE}.new")
    left = f"{address}\n{instance}\n"
    with suppress(OSError):
        fresh.write_text(left)
        fresh.replace(path)
    try:
        yield
    finally:
        with suppress(OSError):
            if path.read_text() == left:
                path.unlink()


def find_page(settings: Settings) -> Page:
    """Return the page of this data folder's server, if that answers.

    Otherwise return the address in the settings.
    """
    configured = f"http://{settings.serve_listen}/"
    try:
        left = _file(settings).read_text().split()
    except OSError:
        left = []
    match left:
        case [address, instance] if _instance(address) == instance:
            return Page(address, Server.OURS)
        case _:
            found = _instance(configured)
            return Page(
                configured, Server.NONE if found is None else Server.ANOTHER
            )


def _instance(address: str) -> str | None:
    """Return which server answers: empty for another, None for no server."""
    # Never through a proxy: it is on this machine.
    opener = build_opener(ProxyHandler({}))
    try:
        with opener.open(f"{address}healthz", timeout=PROBE_SECONDS) as answer:
            return str(answer.headers.get(INSTANCE) or "")
    except (HTTPError, HTTPException, TimeoutError):
        return ""
    except OSError:
        return None


def _file(settings: Settings) -> Path:
    return settings.data_dir / FILE
