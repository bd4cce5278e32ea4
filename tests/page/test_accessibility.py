"""axe-core finds nothing serious on any view, in light and in dark."""

from collections.abc import Mapping
from typing import Any, Literal

import pytest

from tests.page.conftest import Opener

VIEWS = {
    "fleet": "/?log=all",
    "fleet-empty": "/?filter=nothing-like-it",
    "fleet-gap": "/?log=4",
    "jobs": "/jobs?log=all",
    "node": "/node/gpu-002?entry=1/72",
    "object": "/object/node/gpu-002?left=1/2&right=1/94",
    "workload": "/workload/job/train/llm-pretrain",
    "place": "/places/rack/rack-2?log=3",
    "sources": "/sources?log=4",
    "compare": "/compare/gpu-002?log=3&other=gpu-005",
}
SERIOUS = {"serious", "critical"}
ASKED: Mapping[Literal["light", "dark"], Any] = {
    "light": {"resultTypes": ["violations"]},
    "dark": {"resultTypes": ["violations"], "runOnly": ["color-contrast"]},
}
"""What is asked of axe-core: a scheme changes colours and nothing else."""


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_accessible(
    open_tab: Opener, axe_script: str, view: str
) -> None:
    tab = open_tab(VIEWS[view])
    tab.page.evaluate(axe_script)
    for scheme, asked in ASKED.items():
        tab.page.emulate_media(color_scheme=scheme)
        tab.settle()
        found = tab.page.evaluate("asked => axe.run(asked)", asked)
        wrong = [
            f"{scheme}: {one['id']}: {one['help']}: {node['html']}"
            f" {node['failureSummary']}"
            for one in found["violations"]
            if one["impact"] in SERIOUS
            for node in one["nodes"]
        ]

        assert wrong == []


@pytest.mark.parametrize("shown", ["?", "/", "g", "y"])
def test_what_opens_above_the_page_can_be_read_too(
    open_tab: Opener, axe_script: str, shown: str
) -> None:
    tab = open_tab("/node/gpu-002")
    tab.keys(shown)
    tab.page.wait_for_selector("dialog[open]")
    tab.page.evaluate(axe_script)
    asked = ASKED["light"]
    found = tab.page.evaluate("asked => axe.run('dialog', asked)", asked)

    assert [
        one["id"] for one in found["violations"] if one["impact"] in SERIOUS
    ] == []
