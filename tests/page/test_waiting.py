"""The view of a job that has no Pods: what keeps it from starting."""

from collections.abc import Iterator

import pytest

from tests.api.test_waiting_jobs import QUOTA, fill
from tests.page.conftest import SCREENSHOTS, Opener, serving
from tests.support.filled import filled_database
from tests.support.postgres import DatabaseServer

WIDTHS = {390: 844, 1440: 900}
"""Of a phone and a laptop, with their heights."""


@pytest.fixture(scope="module")
def served(embedded_server: DatabaseServer) -> Iterator[str]:
    """The address of `recorder serve`, of a log with jobs that wait."""
    with (
        filled_database(embedded_server, fill) as database,
        serving(database) as address,
    ):
        yield address


def test_a_job_without_pods_says_what_keeps_it_from_starting(
    open_tab: Opener,
) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    tab = open_tab("/jobs")
    tab.page.click("text=train/stuck")
    tab.ready()

    assert QUOTA[:60] in tab.says(".sentence")
    assert QUOTA[:60] in tab.says(".members td.whole")
    assert "No Pods recorded" in tab.says(".workload")
    for width, height in WIDTHS.items():
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.settle()
        tab.page.screenshot(path=SCREENSHOTS / f"waiting-{width}.png")
        assert tab.size[0] <= width
    tab.page.click(".members a.code")
    tab.ready()
    assert "entry=" in tab.address
