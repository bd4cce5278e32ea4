"""The page's pure modules, tested where they are written: in JavaScript."""

import json
import subprocess
from pathlib import Path

import pytest
from graphql import build_schema, parse, validate

from api.page.build import SOURCES, STATIC
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


def test_the_page_asks_only_what_the_schema_answers() -> None:
    script = (
        f"import * as asked from '{SOURCES / 'ask' / 'queries.js'}';"
        " console.log(JSON.stringify(asked));"
    )
    said = subprocess.run(
        [node(), "--input-type=module", "--eval", script],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    schema = build_schema((STATIC.parent / "schema.graphql").read_text())
    queries = json.loads(said)

    assert queries
    for name, query in queries.items():
        assert validate(schema, parse(query)) == [], name
