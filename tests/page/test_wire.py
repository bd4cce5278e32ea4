"""What a visit costs on the wire, as the browser counts it."""

import re

import pytest
from playwright.sync_api import Response

from tests.page.conftest import Opener
from tests.page.tab import Tab

FIRST_VISIT_MAX = 60_000
"""Bytes: of everything, to a browser that has nothing of it yet."""

ANSWERS_MAX = 25_000
"""Bytes of it: of all that is asked for to show a view."""


def responses_of(tab: Tab) -> list[Response]:
    """Return a list to which every response of a tab is added."""
    responses: list[Response] = []

    def heard(one: Response) -> None:
        responses.append(one)

    tab.page.on("response", heard)
    return responses


@pytest.mark.parametrize(
    "path",
    [
        "/?log=2",
        "/jobs?log=2",
        "/node/gpu-002?log=2",
        "/workload/job/train/llm-pretrain",
    ],
)
def test_a_first_visit_is_small_on_the_wire(
    open_tab: Opener, path: str
) -> None:
    tab = open_tab("/sources")
    tab.page.goto("about:blank")
    responses = responses_of(tab)
    devtools = tab.page.context.new_cdp_session(tab.page)
    devtools.send("Network.clearBrowserCache")
    tab.open(path)

    sizes = [
        (response.url, response.request.sizes()["responseBodySize"])
        for response in responses
        if "event-stream" not in response.headers.get("content-type", "")
    ]
    kinds = {url.rpartition(".")[2] for url, _ in sizes}
    assert kinds >= {"js", "mjs", "css"}
    assert sum(size for _, size in sizes) <= FIRST_VISIT_MAX, sizes
    answers = [size for url, size in sizes if url.endswith("/graphql")]
    assert len(answers) > 1
    assert sum(answers) <= ANSWERS_MAX


def test_a_second_visit_asks_for_no_asset(open_tab: Opener) -> None:
    tab = open_tab("/?log=2")
    kept = tab.page.evaluate(
        "fetch(document.querySelector('script').src)"
        ".then(one => one.headers.get('cache-control'))"
    )
    tab.open("/?log=4")
    timing: list[int] = tab.page.evaluate(
        "performance.getEntriesByType('resource')"
        ".filter(one => one.name.includes('/assets/'))"
        ".map(one => one.transferSize)"
    )

    assert "immutable" in kept
    assert timing
    assert set(timing) == {0}, "from the cache of the browser"


def test_an_asset_is_named_by_its_content(open_tab: Opener) -> None:
    tab = open_tab()
    named: list[str] = tab.page.evaluate(
        "[...document.querySelectorAll('[src], link[href]')]"
        ".map(one => one.src ?? one.href)"
        ".concat(performance.getEntriesByType('resource')"
        ".map(one => one.name))"
    )
    assets = {url for url in named if "/assets/" in url}

    assert assets
    for url in assets:
        assert re.search(r"\.[0-9a-f]{12}\.\w+$", url), url
