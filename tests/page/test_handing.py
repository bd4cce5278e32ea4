"""A view is shared: as a link, a command, a query, or a comparison."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.page.conftest import Opener
from tests.page.tab import Tab
from tests.support.postgres import Database

NODE = "/node/gpu-002?log=2"


def copied(tab: Tab, name: str) -> str:
    """Return what a view is copied as."""
    tab.keys("y")
    tab.page.get_by_role("button", name=name, exact=True).click()
    expect(tab.page.locator(".said")).to_have_text("Copied.")
    text: str = tab.page.evaluate("navigator.clipboard.readText()")
    return text


def test_a_link_brings_back_what_is_shown(open_tab: Opener) -> None:
    tab = open_tab(NODE)
    link = copied(tab, "Link")

    assert link.endswith(tab.address)
    assert open_tab(link).says(".verdict .sentence") == tab.says(
        ".verdict .sentence"
    )


@pytest.mark.parametrize(
    ("path", "says"),
    [
        (NODE, "gpu-002 was rebooted by node-lifecycle-controller"),
        (f"{NODE}&entry=2/55", "PendingPhaseState"),
        ("/?log=2&filter=hung-kernel", "gpu-002"),
        ("/object/node/gpu-002?log=2", "node-lifecycle-controller"),
        ("/workload/job/train/llm-pretrain?log=2", "llm-pretrain"),
        ("/sources?log=2", "played from a tape"),
    ],
)
def test_a_command_answers_what_a_view_shows(
    open_tab: Opener, page_database: Database, path: str, says: str
) -> None:
    command = copied(open_tab(path), "Command")
    assert command.startswith("recorder ")
    done = subprocess.run(
        ["/bin/sh", "-c", command.replace("recorder", "$RECORDER", 1)],
        env={
            **os.environ,
            "RECORDER": f"{sys.executable} -m recorder",
            "RECORDER_DATABASE_URL": page_database.dsn("reader"),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode in {0, 4}, done.stderr
    assert says in done.stdout


@pytest.mark.parametrize("path", [NODE, f"{NODE}&entry=2/55", "/?log=2"])
def test_a_query_is_one_that_can_be_sent(open_tab: Opener, path: str) -> None:
    tab = open_tab(path)
    query = copied(tab, "GraphQL")
    variables_text = query.partition("# variables:")[2]
    variables = json.loads(variables_text.replace("\n# ", "\n"))
    answer: dict[str, Any] = tab.page.evaluate(
        """body => fetch('/graphql', { method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body) }).then(one => one.json())""",
        {"query": query, "variables": variables},
    )

    assert "errors" not in answer
    assert "2/" in json.dumps(answer["data"])


def test_links_of_the_site_name_what_is_looked_at(open_tab: Opener) -> None:
    tab = open_tab(NODE)
    tab.keys("y")
    links = tab.page.locator("dialog .copies a")
    expect(links).to_have_count(2)

    assert [link.get_attribute("href") for link in links.all()] == [
        "https://grafana.invalid/d/node?var-node=gpu-002&from=1795269303770",
        "https://wiki.invalid/runbooks/hung-kernel",
    ]
    assert links.first.get_attribute("rel") == "noopener noreferrer"
