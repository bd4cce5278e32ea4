"""How smoothly the page's timeline moves: 30,000 marks on 200 lanes.

A real Chromium without a graphics card draws the page's own component, and
each frame it gets a turn of the wheel. Once on a screen as people have it,
where the page draws what is seen of the lanes, and once on one so tall that
every mark of every lane is drawn in every frame.
"""

import statistics
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from bench.measuring import Number
from tests.support.chromium import ARGUMENTS, chromium

__all__ = ["bench"]

ROOT = Path(__file__).parents[1]
FRAMES = 240
SCREENS = {"a screen of 200 lanes": 1000, "all of 200 lanes": 5800}
WANTED = ("<= 33", "<= 120")
"""Of a screen as people have it; the other says what it is spared."""


def bench(runs: int) -> list[Number]:
    numbers = []
    with _served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=ARGUMENTS
        )
        for name, height in SCREENS.items():
            frames = [_frames(browser, address, height) for _ in range(runs)]
            wanted = WANTED if name.startswith("a screen") else ("", "")
            numbers += _numbers(name, frames, wanted)
        browser.close()
    return numbers


def _numbers(
    name: str, frames: list[list[float]], wanted: tuple[str, str]
) -> list[Number]:
    return [
        Number(
            name=f"{name}: frame, median",
            unit="ms",
            values=[statistics.median(each) for each in frames],
            target=wanted[0],
        ),
        Number(
            name=f"{name}: longest frame",
            unit="ms",
            values=[max(each) for each in frames],
            target=wanted[1],
            best="min",
        ),
    ]


def _frames(browser: Browser, address: str, height: int) -> list[float]:
    page = browser.new_page(viewport={"width": 1600, "height": height})
    page.goto(f"{address}/bench/timeline.html")
    page.wait_for_function("globalThis.moved !== undefined")
    frames: list[float] = page.evaluate(f"moved({FRAMES})")
    page.close()
    return frames


class _Quiet(SimpleHTTPRequestHandler):
    extensions_map = {  # noqa: RUF012 - as its base has it
        **SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
    }

    def log_message(self, *_: object) -> None:
        """Say nothing of requests."""


@contextmanager
def _served() -> Iterator[str]:
    handler = partial(_Quiet, directory=str(ROOT))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
