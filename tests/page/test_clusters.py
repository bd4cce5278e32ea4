"""All clusters of a registry on one page, also one that is away."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.corpus.logs import play, tape_of
from tests.page.conftest import Opener, served_with
from tests.support.filled import filled_database
from tests.support.fleet import DEAD, rename, write_registry
from tests.support.postgres import Database, DatabaseServer

TAPES = {"eu": "two-reboots", "us": "crash"}
"""Both have a node gpu-002, in a rack of the same name."""


@contextmanager
def database_of(server: DatabaseServer, name: str) -> Iterator[Database]:
    """Yield a database with a live log of a cluster."""

    async def fill(writer: str) -> None:
        await play(writer, tape_of(TAPES[name]), name=name)

    with filled_database(server, fill) as database:
        asyncio.run(rename(database, name, kind="live"))
        yield database


@pytest.fixture(scope="module")
def served(
    embedded_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of `recorder serve` of three clusters, one of them dead."""
    with ExitStack() as stack:
        urls = {"dead": DEAD}
        for name in TAPES:
            database = database_of(embedded_server, name)
            urls[name] = stack.enter_context(database).dsn("reader")
        file = tmp_path_factory.mktemp("registry") / "clusters.toml"
        write_registry(file, urls)
        serving = served_with(RECORDER_CLUSTERS_FILE=str(file))
        yield stack.enter_context(serving)[1]


def test_the_page_opens_on_all_clusters_and_says_which_is_away(
    open_tab: Opener,
) -> None:
    tab = open_tab("/?last=all")

    assert "in 2 clusters" in tab.says("h1")
    assert "dead is away: its database does not respond." in tab.says(
        ".note.hatched"
    )
    chooser = tab.page.get_by_label("Cluster", exact=True)
    expect(chooser).to_have_value("all")
    assert chooser.locator("option").all_inner_texts() == [
        "all clusters",
        "eu",
        "us",
        "dead (away)",
    ]
    assert chooser.locator("option").last.is_disabled()
    for trait, name in {"node": "gpu-002", "rack": "rack-2"}.items():
        heat = tab.page.locator(f"[aria-labelledby=heat-{trait}] tbody th")
        assert sorted(heat.all_inner_texts()) == [f"{name} eu", f"{name} us"]
    tab.page.click("[aria-labelledby=heat-node] tbody th a >> nth=1")
    tab.ready()
    assert "in 2 clusters" not in tab.says("h1")
    assert "filter=node:gpu-002" in tab.address


def test_a_search_finds_in_all_clusters(open_tab: Opener) -> None:
    tab = open_tab("/node/gpu-002?log=us:1")
    tab.keys("/")
    tab.page.keyboard.type("gpu-002")
    nodes = tab.page.locator("#hits a", has_text="node, ")
    expect(nodes).to_have_text(["gpu-002 node, us", "gpu-002 node, eu"])
    nodes.last.click()
    tab.ready()

    assert tab.address.startswith("/node/gpu-002?log=eu:1")


def test_an_incident_of_any_cluster_leads_to_its_node_and_its_entries(
    open_tab: Opener,
) -> None:
    tab = open_tab("/?last=all")
    links = tab.page.locator(".incident a").evaluate_all(
        "links => links.map(link => link.getAttribute('href'))"
    )
    for name in TAPES:
        [there, *_] = [
            link
            for link in links
            if parse_qs(urlsplit(link).query).get("log") == [f"{name}:1"]
        ]
        tab.open(there)
        tab.page.locator(".chain .step").first.click()
        tab.ready()
        assert f"{name}:1/" in unquote(tab.address)
        expect(tab.page.locator(".evidence h2")).to_contain_text(f"{name}:1/")


def test_one_cluster_alone_is_not_said_to_lack_another(
    open_tab: Opener,
) -> None:
    tab = open_tab("/?last=all")
    tab.page.get_by_label("Cluster", exact=True).select_option("us:1")
    tab.ready()

    assert "is away" not in tab.page.locator("main, body").first.inner_text()


def test_a_page_without_any_cluster_names_those_that_are_away(
    browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "clusters.toml"
    write_registry(file, {"eu": DEAD, "us": DEAD})
    settings = {
        "RECORDER_CLUSTERS_FILE": str(file),
        "RECORDER_SERVE_GRAPHIQL": "false",
    }
    with served_with(**settings) as (_, address):
        page = browser.new_page()
        page.goto(f"{address}/graphiql")
        expect(page.locator("#graphiql")).to_have_count(0)
        page.goto(address)
        expect(page.locator(".recording")).to_have_text(
            "all 2 clusters are away"
        )
        expect(page.locator(".note.hatched")).to_have_text(
            [
                f"{name} is away: its database does not respond."
                " Nothing of it is shown here."
                for name in ("eu", "us")
            ]
        )
        page.close()
