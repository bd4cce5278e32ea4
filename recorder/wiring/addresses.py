"""Addresses of the page's views, as links that show the same to everybody.

The server that runs on this machine leaves its address in the data folder, so
that one on a free port is found too.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote, urlencode

from recorder.questions.references import node_name
from recorder.settings import Settings

__all__ = ["announced", "page_address", "view"]

FILE = "serve.address"


@contextmanager
def announced(settings: Settings, address: str) -> Iterator[None]:
    """Leave an address in the data folder while entered."""
    path = _file(settings)
    fresh = path.with_name(f"{FILE}.new")
    with suppress(OSError):
        fresh.write_text(address)
        fresh.replace(path)
    try:
        yield
    finally:
        with suppress(OSError):
            if path.read_text() == address:
                path.unlink()


def page_address(settings: Settings, node: str | None = None) -> str:
    """Return the address of the page, or of its view of a node.

    Of the server that said where it is, or else that of the settings.

    Raises:
        ConfigError: what is named is no node.
    """
    try:
        base = _file(settings).read_text().strip()
    except OSError:
        base = f"http://{settings.serve_listen}/"
    if node is None:
        return base
    return base + view(node, cluster=settings.cluster)


def view(
    node: str, *, cluster: str | None = None, verdict: str | None = None
) -> str:
    """Return the path of the view of a node, opened at one of its verdicts."""
    named = {"cluster": cluster, "verdict": verdict}
    query = urlencode({k: v for k, v in named.items() if v}, safe="/")
    path = f"node/{quote(node_name(node), safe='')}"
    return f"{path}?{query}" if query else path


def _file(settings: Settings) -> Path:
    return settings.data_dir / FILE
