"""Every view on every screen: read without sideways scrolling, in few screens.

What was on them is kept in ``build/screenshots``, for people to look at.
"""

import pytest

from tests.page.conftest import SCREENSHOTS, Opener
from tests.page.tab import Tab

WIDTHS = {390: 844, 768: 1024, 1440: 900, 2560: 1440}
"""Of a phone, a tablet, a laptop, a desk; with their heights, in pixels."""
LAPTOP = 1440

VIEWS = {
    "fleet": "/?log=all",
    "demo-repaired": "/node/gpu-002?log=5",
    "demo-crashed": "/node/gpu-007?log=5",
    "demo-workload": "/workload/jobset/train/llm-pretrain?log=5",
    "jobs": "/jobs?log=all",
    "fleet-gap": "/?log=4",
    "node": "/node/gpu-002?log=2",
    "node-gap": "/node/gpu-002?log=4",
    "node-entry": "/node/gpu-002?entry=1/72",
    "object": "/object/node/gpu-002?left=1/2&right=1/94",
    "workload": "/workload/job/train/llm-pretrain",
    "places": "/places?log=3",
    "place": "/places/rack/rack-2?log=3",
    "sources": "/sources?log=4",
    "compare": "/compare/gpu-002?log=3&other=gpu-005",
}

SCREENS_MAX = 5
"""Of a phone, that a page about a node may be tall."""

LANES_SEEN = 5
"""On the first screen, so that there is a picture and not an axis."""
LANE_PIXELS = 28


TARGETS = ".head a, .head button, .head select, .does > *, main input"
TARGET_PIXELS = 40


def small(tab: Tab) -> list[str]:
    """Return what a thumb misses on a phone."""
    missed: list[str] = tab.page.locator(TARGETS).evaluate_all(
        "(all, least) => all.filter(one => one.checkVisibility()"
        " && one.getBoundingClientRect().height < least)"
        ".map(one => one.outerHTML)",
        TARGET_PIXELS,
    )
    return missed


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_fits_every_screen(open_tab: Opener, view: str) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    tab = open_tab(VIEWS[view])
    for width, height in WIDTHS.items():
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.settle()
        name = f"{view}-{width}-light.png"
        tab.page.screenshot(path=SCREENSHOTS / name)

        assert tab.size[0] <= width, name
        if width == min(WIDTHS):
            assert small(tab) == [], name
        if width == min(WIDTHS) and view.startswith("node"):
            assert tab.size[1] <= SCREENS_MAX * height, name
    # Of the same size in the dark, whatever the screen.
    tab.page.set_viewport_size({"width": LAPTOP, "height": WIDTHS[LAPTOP]})
    tab.settle()
    light = tab.size
    tab.page.emulate_media(color_scheme="dark")
    tab.settle()
    tab.page.screenshot(path=SCREENSHOTS / f"{view}-{LAPTOP}-dark.png")
    assert tab.size == light


@pytest.mark.parametrize(
    "view",
    [
        *(f"/node/gpu-002?log={log}" for log in (1, 2, 3, 4, 5)),
        "/node/gpu-007?log=5",
    ],
)
def test_the_first_screen_of_a_node_has_answer_path_and_picture(
    open_tab: Opener, view: str
) -> None:
    tab = open_tab(view)
    card, lanes = (
        tab.page.locator(name).first.bounding_box()
        for name in (".verdict.open", ".timeline .lanes")
    )
    assert card is not None
    assert lanes is not None
    steps = tab.page.locator(".chain > li").all()
    tops = {round((step.bounding_box() or card)["y"]) for step in steps}

    assert 1 <= len(steps) <= 7
    assert len(tops) == 1, "the path is one line"
    assert card["y"] + card["height"] <= lanes["y"], "first the answer"
    assert lanes["y"] + LANES_SEEN * LANE_PIXELS <= WIDTHS[1440]


def test_on_a_phone_evidence_is_a_sheet_over_the_page(
    open_tab: Opener,
) -> None:
    tab = open_tab("/node/gpu-002?log=2")
    tab.page.set_viewport_size({"width": 390, "height": 844})
    tab.page.locator(".chain > li > a").nth(1).click()
    tab.ready()
    before = tab.page.evaluate("scrollY")
    sheet = tab.page.locator(".evidence").bounding_box()
    assert sheet is not None

    assert sheet["width"] == 390
    assert sheet["y"] + sheet["height"] == 844
    assert sheet["y"] > 0, "the page is still seen"
    tab.page.click(".evidence .close")
    assert tab.page.locator(".evidence").count() == 0
    assert tab.page.evaluate("scrollY") == before


def test_no_entry_is_listed_twice_above_the_facts(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002?log=2")
    listed = tab.page.locator(
        ".chain .code, #detail > .records .code"
    ).all_text_contents()

    assert len(listed) > 7
    assert len(listed) == len(set(listed))
