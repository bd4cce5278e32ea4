"""The page's pure modules, tested where they are written: in JavaScript."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from graphql import build_schema, parse, validate

from api.page.build import SOURCES, STATIC
from recorder.answers.text.lines import CONTROLS
from recorder.model.outcomes import (
    Cause,
    Confidence,
    EndedBy,
    Happened,
    WorkloadState,
)
from tests.support.node import node

UNITS = sorted((Path(__file__).parent / "unit").glob("*.test.js"))


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_the_modules_hold(path: Path) -> None:
    done = subprocess.run(
        [node(), "--test", "--test-reporter=spec", path],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 0, done.stdout[-6000:]


def exported(module: str) -> dict[str, Any]:
    """Return the values that a module of the page exports."""
    script = (
        f"import * as all from '{SOURCES / module}';"
        " console.log(JSON.stringify(all));"
    )
    said = subprocess.run(
        [node(), "--input-type=module", "--eval", script],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found: dict[str, Any] = json.loads(said)
    return found


def test_the_page_shows_the_signs_that_the_command_line_shows() -> None:
    codes = [code for code in CONTROLS if chr(code) not in "\n\t"]
    script = (
        f"import {{ shown }} from '{SOURCES / 'words/shown.js'}';"
        f" const codes = {[*codes, 0x09, 0x0A, 0x41, 0x202F, 0xE9]};"
        " console.log(JSON.stringify("
        "codes.map((code) => shown(String.fromCharCode(code)))));"
    )
    said = subprocess.run(
        [node(), "--input-type=module", "--eval", script],
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    kept = ["\t", "\n", "A", "\u202f", "é"]
    assert json.loads(said) == [*(chr(CONTROLS[c]) for c in codes), *kept]


def test_the_page_asks_only_what_the_schema_answers() -> None:
    schema = build_schema((STATIC.parent / "schema.graphql").read_text())
    modules = ["ask/queries.js", *sorted((SOURCES / "ask").glob("of*.js"))]
    queries = {
        name: query
        for module in modules
        for name, query in exported(str(module)).items()
    }

    assert len(queries) > len(modules)
    for name, query in queries.items():
        assert validate(schema, parse(query)) == [], name


def test_the_filter_of_jobs_knows_every_word_of_the_contract() -> None:
    words = exported("jobs/filter.js")["JOB_WORDS"]

    assert sorted(words) == sorted(["any", *EndedBy, *WorkloadState])


def test_the_filter_knows_every_word_of_the_contract() -> None:
    words = exported("words/filter.js")["FILTER_WORDS"]

    assert sorted(words) == sorted([*Cause, *Happened, *Confidence]), (
        "api/page/words/filter.js has other words than"
        " recorder/model/outcomes.py; after a change run: make page"
    )
