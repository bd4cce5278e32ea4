"""Metrics that were kept with an incident are drawn under its lanes."""

import re
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
        door = LogDoor(log)
        for node, hot, peer, peer_of in (
            ("n1", 3, "n2", None),
            ("n2", None, None, "n1"),
        ):
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
                for name, labels, samples in gpus(node, hot=hot)
                if "gpu" in labels
            ]
            kept = Kept(
                incident="1/1",
                node=node,
                begin=ASKED.begin,
                end=ASKED.end,
                peer=peer,
                peer_of=peer_of,
            )
            await door.put(event_of(ASKED._replace(node=node), kept, series))
        await door.commit()
        await log.end()

    with (
        filled_database(embedded_server, fill) as database,
        serving(database) as address,
    ):
        yield address


@pytest.mark.parametrize("path", ["/node/n1", "/workload/job/train/llm"])
def test_charts_of_the_failed_node_and_its_peer_are_under_the_lanes(
    open_tab: Opener, path: str
) -> None:
    tab = open_tab(path)
    charts = tab.page.locator("#metrics figure")
    expect(charts).to_have_count(2)
    for number in range(2):
        chart = charts.nth(number)
        expect(chart.locator("path.line")).to_have_count(8)
        expect(chart.locator("path.first")).to_have_count(1)
        # After the loss of the node there are no samples.
        expect(chart.locator("path.missing")).to_have_count(1)
        expect(chart.locator("path.mark")).to_have_attribute(
            "d", re.compile(r"^M\S+ 0v72M")
        )
    hot, cool = charts.locator("figcaption").all_inner_texts()
    assert hot.startswith(
        "n1: GPU 3 up to 97 °C, the others up to 67 °C, by"
        " DCGM_FI_DEV_GPU_TEMP, 60 °C to 97 °C, 02:40:00 to 03:25:00"
    )
    assert cool.startswith("n2 (healthy peer of n1): GPU 7 up to 67 °C")
    if path.startswith("/node"):
        assert "GPU 3 at 97 °C from 03:08" in tab.says("#why")
    tab.page.set_viewport_size({"width": 390, "height": 844})
    # It is drawn anew for the width of a phone.
    whole = tab.page.locator("html")
    expect(whole).to_have_js_property("scrollWidth", 390)
