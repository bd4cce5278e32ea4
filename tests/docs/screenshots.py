"""Pictures of the page for the documentation: ``make screenshots``.

The demo and a tape with a gap are played into a folder of their own, served,
and shown in Chromium as in the tests, so that the pictures stay true.
"""

import asyncio
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from recorder.model.settings import Settings
from recorder.wiring.database import open_database
from tests.corpus.logs import play_in_turn, tape_of
from tests.page.conftest import LOGS, served_with
from tests.page.tab import Tab
from tests.support.chromium import ARGUMENTS, chromium

FOLDER = Path(__file__).parents[2] / "docs/pictures"
DESK = {"width": 1280, "height": 760}
PHONE = {"width": 390, "height": 844}

PICTURES = {
    "fleet": ("/?cluster=demo", DESK),
    "node": ("/node/gpu-002?cluster=demo", DESK),
    "job": ("/workload/jobset/train/llm-pretrain?cluster=demo", DESK),
    "gap": ("/node/gpu-002?cluster=gap", DESK),
    "phone": ("/node/gpu-002?cluster=demo", PHONE),
}
"""What each shows, and the size of its window."""


async def _filled(folder: Path) -> None:
    async with open_database(Settings(data_dir=folder)) as database:
        tapes = {"demo": LOGS["demo"], "gap": tape_of("crash-in-gap")}
        await play_in_turn(database.dsn("writer"), tapes)


def _take(address: str, folder: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=ARGUMENTS
        )
        for name, (path, size) in PICTURES.items():
            context = browser.new_context(
                base_url=address,
                viewport={"width": size["width"], "height": size["height"]},
                reduced_motion="reduce",
            )
            page = context.new_page()
            tab = Tab(page)
            tab.open(path)
            tab.settle()
            page.screenshot(path=folder / f"{name}.png")
            context.close()
        browser.close()


def take(folder: Path) -> None:
    """Take every picture into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="recorder-pictures-") as name:
        Path(name).chmod(0o711)
        data = Path(name) / "data"
        asyncio.run(_filled(data))
        with served_with(RECORDER_DATA_DIR=str(data)) as (_, address):
            _take(address, folder)


if __name__ == "__main__":
    take(FOLDER)
