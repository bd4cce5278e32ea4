"""A port that flaps and a PDU, as others claimed of them, and their marks."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from recorder.answers.topology import ENDS_MAX
from tests.answers.test_topology import claim, node, turned
from tests.page.conftest import Opener, serving
from tests.support.builders import NODES, a_list
from tests.support.filled import filled_database
from tests.support.fixed_log import write_log
from tests.support.postgres import DatabaseServer

ALL = "log=1&last=all"
PORT = "port/leaf-7:1"
FLAPS = 600
STORY = [
    [
        a_list(NODES, 9, *(node(name, 2) for name in "abcd")),
        claim(600, "pdu/b3", "machine.power", event="tripped", node="a"),
        claim(602, "pdu/b3", "site.unheard-of", fan="3"),
        *turned(20, 640, ready="Unknown"),
        *turned(30, 700, boot=2),
        claim(800, "port/d:mlx5_0", "link.state", state="down", node="d"),
        *(
            claim(
                1000 + number / 10,
                PORT,
                "link.state",
                state=("down", "up")[number % 2],
            )
            for number in range(FLAPS)
        ),
    ]
]
"""A PDU trips under three nodes, a port of d is down, one of a leaf flaps."""


@pytest.fixture(scope="module")
def served(embedded_server: DatabaseServer) -> Iterator[str]:
    """A server of the story's log."""
    with (
        filled_database(
            embedded_server, lambda dsn: write_log(dsn, STORY, with_facts=True)
        ) as database,
        serving(database) as address,
    ):
        yield address


def test_of_a_port_that_flaps_the_first_and_last_claims_are_listed(
    open_tab: Opener,
) -> None:
    """With how many there were, and a link to the entry of each."""
    tab = open_tab(f"/places/{PORT}?{ALL}")

    assert tab.says("h1") == f"Place {PORT}"
    claims = tab.page.locator(".claims li")
    assert claims.count() == 2 * ENDS_MAX
    first, last = claims.first.inner_text(), claims.last.inner_text()
    assert first.startswith("21 Nov 2026, 03:16:40 UTC link.state")
    assert last.startswith("21 Nov 2026, 03:17:39 UTC link.state")
    assert (first[-10:], last[-8:]) == ("state=down", "state=up")
    said = "600 claims in all, in 2 minutes, at most 400 in one."
    expect(tab.page.locator(".places")).to_contain_text(said)
    expect(tab.page.locator(".places")).to_contain_text(
        "Claims, and no incident of a node behind it."
    )

    claims.last.locator("a").click()
    tab.ready()
    assert f"entry=1/{13 + FLAPS}" in tab.address
    expect(tab.page.locator("main")).to_contain_text(f"{PORT}")


def test_a_place_shows_its_claims_its_nodes_and_what_befell_them(
    open_tab: Opener,
) -> None:
    tab = open_tab(f"/places/pdu/b3?{ALL}")

    tripped, unknown = tab.page.locator(".claims li").all()
    assert "machine.power about pdu/b3" in tripped.inner_text()
    assert "(unknown type)" not in tripped.inner_text()
    assert unknown.inner_text().endswith("(unknown type)")
    behind = tab.page.locator("td.whole a").all_inner_texts()
    assert behind == ["node/a", "node/b", "node/c"]
    happened = tab.page.locator(".happened li")
    assert happened.count() == 1
    assert "claims in all" not in tab.says(".places")


def test_a_claim_of_a_port_of_a_node_is_a_fact_and_the_cause_there(
    open_tab: Opener,
) -> None:
    tab = open_tab(f"/node/d?{ALL}")

    row = tab.page.locator(".facts tbody tr", has_text="port/d:mlx5_0")
    assert row.count() == 1
    assert "link.state about port/d:mlx5_0 from dc" in row.inner_text()
    assert "(unknown type)" not in row.inner_text()
    entry = row.get_attribute("data-entries")
    main = tab.page.locator("main")
    expect(main).to_contain_text("d was degraded at 03:13:20, possibly")
    marks = main.locator(f"[data-entries~='{entry}']")
    assert marks.count() > 1  # the step of the verdict is the other
    row.hover()
    for mark in marks.all():
        expect(mark).to_have_class(re.compile(r"\blit\b"))
