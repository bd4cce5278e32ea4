"""The statements of the store that change the database, as its code has."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from recorder import store
from recorder.store.statement import Statement

__all__ = ["on_the_wire", "writes_of_the_store"]

CHANGES = re.compile(
    r"insert\s+into|update\s+recorder|delete\s+from|merge\s+into|truncate\s"
    r"|nextval\(|select\s+recorder\.|pg_notify\(|setval\(|copy\s+recorder",
    re.IGNORECASE,
)


def writes_of_the_store() -> set[str]:
    """Name each: ``module.CONSTANT``, ``COPY table``, or its own words."""
    found: set[str] = set()
    for path in sorted(Path(store.__path__[0]).glob("*.py")):
        tree = ast.parse(path.read_text())
        constants = dict(_constants(tree))
        found |= {f"{path.stem}.{name}" for name in constants.values()}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _is_copy(node):
                table = node.args[0]
                assert isinstance(table, ast.Constant), path
                found.add(f"COPY {table.value!s}")
            if _changes(node) and node not in constants:
                assert isinstance(node, ast.Constant)
                found.add(_words(str(node.value)))
    return found


def on_the_wire(write: str) -> bytes:
    """Return what a client says when it sends a write that has this name."""
    if write.startswith("COPY "):
        return f'COPY "recorder"."{write.removeprefix("COPY ")}"'.encode()
    module, _, name = write.partition(".")
    if not name.isupper():
        return write.encode()
    loaded = import_module(f"{store.__name__}.{module}")
    statement: Statement = getattr(loaded, name)
    return statement.text.encode()


def _constants(tree: ast.Module) -> Iterator[tuple[ast.expr, str]]:
    for statement in tree.body:
        if not isinstance(statement, ast.Assign):
            continue
        made = statement.value
        text = (
            made.args[0] if isinstance(made, ast.Call) and made.args else made
        )
        if _changes(text):
            (target,) = statement.targets
            assert isinstance(target, ast.Name)
            yield text, target.id


def _changes(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and CHANGES.search(node.value) is not None
    )


def _is_copy(call: ast.Call) -> bool:
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "copy_records_to_table"
    )


def _words(statement: str) -> str:
    return " ".join(statement.split())
