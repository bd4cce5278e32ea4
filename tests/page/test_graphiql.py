"""GraphiQL asks this server, loads nothing from elsewhere, and is small."""

import hashlib
import re

import pytest
from playwright.sync_api import Response, expect

from tests.page.conftest import Opener
from tests.page.vendored import FOLDER, content, manifest

WIRE_MAX = 330_000
"""Bytes of all that it loads, once; the page loads none of it."""

FOLLOWED = 'subscription { incidents(log: "1") { incidents { id } } }'
OURS = {"index.html", "start.css", "start.js", "manifest.json"}


def test_queries_are_explained_and_answered_and_followed(
    open_tab: Opener,
) -> None:
    tab = open_tab("/sources")
    loaded: list[Response] = []
    tab.page.on("response", lambda one: loaded.append(one))  # noqa: PLW0108
    tab.page.goto("/graphiql")
    run = tab.page.get_by_role("button", name=re.compile("^Execute query"))
    run.click()

    answer = tab.page.locator(".result-window")
    expect(answer).to_contain_text('"sentence": "gpu-002 ')
    tab.page.get_by_label("Show Documentation Explorer").click()
    tab.page.get_by_text("Query", exact=True).first.click()
    expect(tab.page.locator(".graphiql-doc-explorer")).to_contain_text(
        "What happened to a node"
    )
    hosts = {one.url.partition("//")[2].partition("/")[0] for one in loaded}
    assert len(hosts) == 1, hosts
    sizes = [
        one.request.sizes()["responseBodySize"]
        for one in loaded
        if "/graphiql" in one.url
    ]
    assert len(sizes) == 7
    assert sum(sizes) <= WIRE_MAX
    policy = loaded[0].headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "," not in policy, "one policy, not that of the page too"

    editor = tab.page.locator(".graphiql-query-editor .CodeMirror")
    editor.evaluate("(one, text) => one.CodeMirror.setValue(text)", FOLLOWED)
    run.click()

    expect(answer).to_contain_text('"id": "1/')


@pytest.mark.parametrize("one", manifest(), ids=lambda one: one["file"])
def test_a_file_is_what_its_manifest_says(one: dict[str, str]) -> None:
    assert hashlib.sha256(content(one)).hexdigest() == one["sha256"]
    assert one["licence"] == "MIT"


def test_no_other_file_is_served() -> None:
    named = {one["file"] for one in manifest()}

    assert {path.name for path in FOLDER.iterdir()} == named | OURS
