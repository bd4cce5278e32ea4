"""What a reader may rely on before reading: sizes, names, docstrings."""

import ast
import re
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

FILE_LINES_MAX = 350
FUNCTION_LINES_MAX = 60
"""Without its docstring, which is a contract and may be long."""

CLUSTER_USED = r"^from tests\.cluster\.cluster import"

VAGUE = {"utils", "helpers", "common", "manager", "core", "base"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def length(function: Function) -> int:
    """Count the lines of a function, its docstring aside."""
    first = function.body[0]
    has_docstring = ast.get_docstring(function) is not None
    end = first.end_lineno or first.lineno
    docstring = end - first.lineno + 1 if has_docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_module_fits_on_a_few_screens(path: Path) -> None:
    text = path.read_text()
    nodes = ast.walk(ast.parse(text))
    functions = [node for node in nodes if isinstance(node, Function)]

    assert len(text.splitlines()) <= FILE_LINES_MAX
    for function in functions:
        assert length(function) <= FUNCTION_LINES_MAX, function.name


@pytest.mark.parametrize("path", [*MODULES, *MIGRATIONS], ids=str)
def test_a_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("path", MIGRATIONS, ids=str)
def test_a_migration_imports_nothing_of_ours(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        names = [a.name for a in getattr(node, "names", [])]
        names.append(getattr(node, "module", None) or "")
        assert not any(name.split(".")[0] == "recorder" for name in names)


def test_a_name_says_what_a_module_does() -> None:
    assert {path.stem for path in [*MODULES, *TESTS]}.isdisjoint(VAGUE)


UNIDIOMATIC = re.compile(r"^(Gives?|Tells?) ")
"""How a docstring does not begin: the field says Return, Yield, Whether."""


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_docstrings_say_what_the_field_says(path: Path) -> None:
    functions = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, Function)
    ]

    assert [
        function.name
        for function in functions
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
