"""No write is without its row of the crash matrix.

The source is walked for whatever changes a file, a process or a database, and
`every_write.txt` says which test dies in the midst of it, or why none needs
to. What it does not name fails here, and so does what is there no more.
Migrations are found by their files: see `test_migrations`.
"""

import ast
from pathlib import Path

import pytest

from tests.crash import every_write
from tests.crash.every_write import ROOT, changes_of

TABLE = Path(__file__).with_name("every_write.txt")
NO_ROW = "no row: "


def rows() -> dict[str, set[str]]:
    """Return the table: what is written, by the test or the reason."""
    found: dict[str, set[str]] = {}
    row = module = ""
    for line in TABLE.read_text().splitlines():
        words = line.strip()
        if line.startswith(" " * 4):
            assert words not in found[row], "named once"
            found[row].add(f"{module} {words}")
        elif line.startswith(" " * 2):
            module = words
        elif words:
            row = words
            found[row] = set()
    return found


def test_every_write_has_a_row_and_every_row_a_write() -> None:
    named = [write for writes in rows().values() for write in writes]

    assert len(named) == len(set(named))
    assert set(named) == changes_of("recorder") | changes_of("api")


@pytest.mark.parametrize("row", rows())
def test_a_row_is_a_test_that_exists(row: str) -> None:
    if row.startswith(NO_ROW):
        return
    path, _, name = row.partition("::")
    tree = ast.parse((ROOT / path).read_text())
    tests = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }

    assert name in tests


WRITES = {
    "open(path, 'w')": "open",
    "open(path, mode='r+b')": "open",
    "path.open('ab')": "open",
    "io.FileIO(path, mode)": "io.FileIO",
    "os.open(path, os.O_WRONLY | os.O_CREAT)": "open",
    "os.fdopen(handle, 'w')": "fdopen",
    "path.write_text(text)": "write_text",
    "path.replace(target)": "replace",
    "replace(a, b)": "os.replace",
    "sh.rmtree(path)": "shutil.rmtree",
    "subprocess.run(words)": "subprocess.run",
    "sql('INSERT  INTO t values (1)')": "insert into",
    "sql(f'update {t} set a = 1')": "update _ set",
    "sql('update recorder.log_head h set size = 1')": (
        "update recorder.log_head h set"
    ),
    "sql(f'select nextval({name})')": "nextval(",
    "connection.copy_records_to_table('entry')": "copy 'entry'",
}
READS = [
    "open(path)",
    "path.open('rb')",
    "os.open(path, os.O_RDONLY)",
    "text.replace('a', 'b')",
    "at.replace(tzinfo=None)",
    "sh.disk_usage(path)",
    "sql('select size from recorder.log_head')",
]
IMPORTS = (
    "import os, io, subprocess\nimport shutil as sh\nfrom os import replace"
)


def found_in(
    code: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> set[str]:
    monkeypatch.setattr(every_write, "ROOT", folder)
    (folder / "package").mkdir()
    body = f"{IMPORTS}\ndef act():\n    {code}\n"
    (folder / "package" / "module.py").write_text(body)
    return changes_of("package")


@pytest.mark.parametrize("code", WRITES)
def test_a_write_is_found(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    what = WRITES[code]
    wanted = {f"package/module.py act: {what}"}

    assert found_in(code, tmp_path, monkeypatch) == wanted


@pytest.mark.parametrize("code", READS)
def test_what_only_reads_is_not(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found_in(code, tmp_path, monkeypatch) == set()
