"""What the documentation lists is what the code has."""

import re
import tomllib

import pytest

from recorder.cli.main import COMMANDS
from recorder.model.entry import Operation
from recorder.model.settings import Settings
from tests.docs.blocks import ROOT, blocks
from tests.docs.tables import PARTS, metric_names, rewritten

DOCS = ROOT / "docs"
COOKBOOK = DOCS / "cookbook.md"
WORDS_MAX = 23_400
"""To write more, say something else in fewer words."""

NUMBERS = {
    2: "Two",
    3: "Three",
    4: "Four",
    9: "Nine",
    10: "Ten",
    11: "Eleven",
    12: "Twelve",
}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_what_the_code_says(part: str) -> None:
    """If not: ``python -m tests.docs.tables``."""
    before, after = rewritten(part)

    assert before == after


def test_every_metric_is_ours_and_has_its_unit_last() -> None:
    for name in metric_names():
        assert name.startswith("recorder_")
        assert not name.endswith(("_ms", "_milliseconds", "_kb"))


def test_metrics_and_settings_that_pages_name_exist() -> None:
    known = {*metric_names(), "recorder_owner", "recorder_writer"}
    known |= {"recorder_reader", "recorder_retention", "recorder_notifier"}
    known |= {f"{name}_{end}" for name in known for end in ("sum", "count")}
    variables = {f"RECORDER_{name.upper()}" for name in Settings.__slots__}
    variables |= {"RECORDER_CONFIG"}
    for path in DOCS.glob("*.md"):
        text = path.read_text()
        assert set(re.findall(r"`(recorder_\w+)", text)) <= known, path
        named = set(re.findall(r"RECORDER_[A-Z_]+", text))
        assert {v for v in named if "_TEST_" not in v} <= variables, path


def test_every_operation_is_explained() -> None:
    text = (DOCS / "vocabulary.md").read_text()

    for operation in Operation:
        assert f"`{operation}`" in text, operation


def test_every_command_that_a_page_names_exists() -> None:
    for path in DOCS.glob("**/*.md"):
        for name in re.findall(r"`recorder ([a-z]+)", path.read_text()):
            assert name in COMMANDS, f"{path}: {name}"


def test_every_dependency_has_its_row() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = list(project["dependencies"])
    for group in project["optional-dependencies"].values():
        declared.extend(group)
    names = {re.split(r"[\[><=~; ]", one)[0].lower() for one in declared}
    text = (DOCS / "adr/0002-dependencies.md").read_text()
    rows = set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))

    assert {row.lower() for row in rows} == names


def test_headings_of_the_architecture_are_the_contracts() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    contracts = [one["name"] for one in tools["importlinter"]["contracts"]]
    text = (DOCS / "architecture.md").read_text()
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)

    assert set(contracts) <= set(headings)


def test_every_folder_of_tests_is_explained() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()

    for path in (ROOT / "tests").iterdir():
        if path.is_dir() and any(path.glob("*.py")):
            assert f"`tests/{path.name}/`" in text, path


def test_pages_that_are_written_by_hand_stay_short() -> None:
    """Words of the README and ``docs``, without figures and what is made."""
    pages = {ROOT / "README.md", *DOCS.glob("*.md")} - {
        DOCS / "performance.md"
    }
    made = re.compile(r"<!-- ([a-z]+) -->.*?<!-- end of \1 -->", re.DOTALL)
    words = sum(len(made.sub("", one.read_text()).split()) for one in pages)

    assert words <= WORDS_MAX


def test_the_cookbook_has_as_many_queries_as_it_says() -> None:
    found = [one for one in blocks(COOKBOOK) if one.language == "graphql"]

    assert f"\n{NUMBERS[len(found)]} queries that" in COOKBOOK.read_text()


def test_the_dashboards_are_as_many_as_pages_say() -> None:
    found = list((ROOT / "deploy/grafana").glob("*.json"))

    text = (DOCS / "first-hour.md").read_text()
    assert f"`deploy/grafana` has {NUMBERS[len(found)].lower()} of" in text
