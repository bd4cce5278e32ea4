"""Metrics that were kept with an incident are drawn under its lanes."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from recorder.facts.metrics import Kept, series_of
from recorder.measuring.asking import Asked, event_of
from tests.measuring.story import BACK, LOST, LogDoor, gpus, written
from tests.page.conftest import Opener, serving
from tests.support.builders import START, at
from tests.support.filled import filled_database
from tests.support.postgres import DatabaseServer

ASKED = Asked("1/1", "n1", at(LOST - 1800), at(BACK + 600))


@pytest.fixture(scope="module")
def served(embedded_server: DatabaseServer) -> Iterator[str]:
    """A server of the story's log, with what was kept of it."""

    async def fill(dsn: str) -> None:
        log = await written(dsn)
        series = [
            series_of(
                name,
                {"gpu": labels["gpu"]},
                [
                    (START.timestamp() + seconds, value)
                    for seconds, value in samples
                    if seconds > LOST - 1800
                ],
            )
            for name, labels, samples in gpus("n1", hot=3)
            if "gpu" in labels
        ]
        kept = Kept(
            incident="1/1", node="n1", begin=ASKED.begin, end=ASKED.end
        )
        door = LogDoor(log)
        await door.put(event_of(ASKED, kept, series))
        await door.commit()
        await log.end()

    with (
        filled_database(embedded_server, fill) as database,
        serving(database) as address,
    ):
        yield address


def test_a_chart_emphasizes_the_hot_gpu(open_tab: Opener) -> None:
    tab = open_tab("/node/n1")
    chart = tab.page.locator("#metrics figure")
    expect(chart).to_have_count(1)
    expect(chart.locator("path")).to_have_count(8)
    expect(chart.locator("path.first")).to_have_count(1)
    assert tab.says("#metrics figcaption") == (
        "n1: GPU 3 up to 97 °C, the others up to 67 °C, 02:40:00 to 03:25:00,"
        " DCGM_FI_DEV_GPU_TEMP 1/6"
    )
    assert "GPU 3 at 97 °C from 03:08" in tab.says("#why")
    tab.page.set_viewport_size({"width": 390, "height": 844})
    wide, _ = tab.size
    assert wide <= 390
