"""What a reader may rely on before reading: sizes, names, docstrings.

One test looks at all modules, and lists those that are not as they should be:
a test for each would be a fifth of all tests.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ORDER, group_of

ROOT = Path(__file__).parents[1]
MODULES = [
    path
    for package in ("recorder", "api")
    for path in sorted((ROOT / package).rglob("*.py"))
]
MIGRATIONS = sorted((ROOT / "migrations").rglob("*.py"))
TESTS = [
    path
    for folder in ("tests", "bench")
    for path in sorted((ROOT / folder).rglob("*.py"))
]

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 60
"""Without its docstring, which is a contract and may be long."""

CLUSTER_USED = r"^from tests\.cluster\.cluster import"

VAGUE = {"utils", "helpers", "common", "manager", "core", "base"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@pytest.fixture(scope="module", autouse=True)
def forget() -> Iterator[None]:
    """Keep no tree after these tests: all take a hundred megabytes."""
    yield
    parsed.cache_clear()


def functions_of(path: Path) -> Iterator[Function]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, Function):
            yield node


def length(function: Function) -> int:
    """Count the lines of a function, its docstring aside."""
    first = function.body[0]
    has_docstring = ast.get_docstring(function) is not None
    end = first.end_lineno or first.lineno
    docstring = end - first.lineno + 1 if has_docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


def test_a_module_fits_on_a_few_screens() -> None:
    assert len(MODULES) > 400
    assert [
        path
        for path in MODULES
        if len(path.read_text().splitlines()) > FILE_LINES_MAX
    ] == []
    assert [
        (path, function.name)
        for path in MODULES
        for function in functions_of(path)
        if length(function) > FUNCTION_LINES_MAX
    ] == []


def test_a_module_says_what_it_is_for() -> None:
    assert [
        path
        for path in [*MODULES, *MIGRATIONS]
        if not ast.get_docstring(parsed(path))
    ] == []


def test_a_migration_imports_nothing_of_ours() -> None:
    assert MIGRATIONS
    assert [path for path in MIGRATIONS if "recorder" in imported(path)] == []


def imported(path: Path) -> set[str]:
    """Return what a module imports, by the first parts of their names."""
    found = set[str]()
    for node in ast.walk(parsed(path)):
        names = [one.name for one in getattr(node, "names", [])]
        names.append(getattr(node, "module", None) or "")
        found |= {name.split(".")[0] for name in names}
    return found


def test_a_name_says_what_a_module_does() -> None:
    assert {path.stem for path in [*MODULES, *TESTS]}.isdisjoint(VAGUE)


UNIDIOMATIC = re.compile(r"^Gives? ")
"""How a docstring does not begin; `test_words` forbids other words."""


def test_docstrings_say_what_the_field_says() -> None:
    assert [
        (path, function.name)
        for path in MODULES
        for function in functions_of(path)
        if UNIDIOMATIC.match(ast.get_docstring(function) or "")
    ] == []


def test_tests_that_run_a_cluster_run_one_after_another() -> None:
    running = [
        path
        for path in TESTS
        if path.name.startswith("test_")
        and re.search(CLUSTER_USED, path.read_text(), re.MULTILINE)
    ]

    groups = {group_of(path) for path in running}
    assert groups == {"recording", "clusters"}
    for name in ORDER:
        assert (ROOT / "tests" / name).exists(), name
