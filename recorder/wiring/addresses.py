"""Addresses of the page's views, as links that show the same to everybody.

The server that runs on this machine leaves its address in the data folder, so
that one on a free port is found too, and a word by which it is known: what
answers there may be another, if the one that left it was killed.
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

__all__ = ["Page", "Server", "announced", "find_page"]

FILE = "serve.address"
INSTANCE = "Recorder-Instance"
PROBE_SECONDS = 1.0
"""A server on this machine that answers at all answers at once."""


class Server(Enum):
    """Who answers at an address."""

    OURS = auto()
    """The one that was begun from this data folder."""

    NOBODY = auto()
    ANOTHER = auto()


@dataclass(frozen=True, slots=True)
class Page:
    """Where the page is, and who answers there."""

    address: str
    server: Server


@contextmanager
def announced(
    settings: Settings, address: str, instance: str
) -> Iterator[None]:
    """Leave an address in the data folder while entered, and whose it is."""
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
    """Find the page: of the server of this data folder, if it answers.

    Else where the settings say that it is served.
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
                configured, Server.NOBODY if found is None else Server.ANOTHER
            )


def _instance(address: str) -> str | None:
    """Return which server answers, empty for none of ours; None for nobody."""
    # Never by way of a proxy: it is on this machine.
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
