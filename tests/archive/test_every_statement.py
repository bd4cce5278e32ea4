"""DuckDB takes every statement that the archive answers.

Those that are made once are prepared against the views of an archive; those
that are put together for a question are asked of it, by every field of a
selection. A statement that is in neither is found.
"""

import ast
import importlib
import pkgutil
import re
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import fields
from datetime import timedelta
from functools import reduce
from operator import or_
from pathlib import Path

import pytest

from recorder import store
from recorder.answers.nouns import Part, Selection
from recorder.archive.place import FolderPlace
from recorder.archive.tables import ArchiveTables
from recorder.model.entry import Operation
from recorder.model.fact import FactKind
from recorder.model.observation import AUDIT
from recorder.model.window import Window
from recorder.store.archive_engine import ArchiveEngine, translated
from recorder.store.extent import Extent
from recorder.store.read_entries import EntryReader
from recorder.store.read_fact_pages import FactPages
from recorder.store.read_gaps import GapReader
from recorder.store.statement import STATEMENTS, Statement
from tests.archive.test_tables import CODES, archive, days_of
from tests.support.days import noon

__all__ = ["archive"]

SIZE = 1_000
SINCE, UNTIL = noon(11), noon(0) + timedelta(days=1)
PLAIN: dict[str, object] = {
    "objects": (1,),
    "source": AUDIT,
    "since": SINCE,
    "until": UNTIL,
    "operations": (Operation.ADDED,),
    "kinds": (FactKind.BOUND,),
    "versions": True,
    "resource_versions": ("1", "x"),
    "code": 403,
    "occurred": Window(SINCE, UNTIL),
    "reason": "Scheduled",
    "actor": "kubelet",
    "node": "gpu-001",
}
SELECTIONS = [
    Selection(),
    *(Selection(**{name: value}) for name, value in PLAIN.items()),  # type: ignore[arg-type]
    Selection(node="gpu-001", beside=(1, 2)),
]
PARTS = [Part.LISTED, Part.OPENED, Part(0), reduce(or_, Part)]


LEFT = re.compile(
    r"""\boffset\ 0\b
    | \blateral\ \(\s*select\ \*\ from\ recorder\.(kind|node|object|word)\b
    | \bexists\ \([^()]*\bunnest\b
    | recorder\.entry\ [^()]*\boperation\ >=\ 100\b""",
    re.VERBOSE,
)
"""What DuckDB would take, and read whole tables for."""


@pytest.fixture
def tables(archive: Path, tmp_path: Path) -> Iterator[ArchiveTables]:
    days = days_of(FolderPlace(archive), tmp_path)
    opened = ArchiveTables(days, CODES, tmp_path / "spill")
    yield opened
    opened.close()


def loaded() -> Sequence[Statement]:
    """Return every statement that the modules of the store make."""
    for module in pkgutil.iter_modules(store.__path__):
        importlib.import_module(f"{store.__name__}.{module.name}")
    return sorted(STATEMENTS, key=lambda one: one.text)


def composers() -> set[str]:
    """Name the functions that put statements for the archive together."""
    found = set()
    for path in Path(store.__path__[0]).glob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                found |= {
                    f"{path.stem}.{function.name}"
                    for call in ast.walk(function)
                    if isinstance(call, ast.Call)
                    and isinstance(call.func, ast.Name)
                    and call.func.id == "question"
                }
    return found


@pytest.fixture
def composed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Note which functions put statements together, and look at these."""
    found = set()
    make = Statement.of

    def noted(text: str, *, archive: bool = False) -> Statement:
        code = sys._getframe(2).f_code
        found.add(f"{Path(code.co_filename).stem}.{code.co_name}")
        made = make(text, archive=archive)
        assert not LEFT.search(translated(made))
        return made

    monkeypatch.setattr(Statement, "of", noted)
    return found


def test_duckdb_prepares_every_statement(tables: ArchiveTables) -> None:
    archived = [one for one in loaded() if one.is_archived]
    assert len(archived) > 40

    for one in archived:
        text = translated(one)
        tables.ask(f"explain {text}", [None] * len(one.names), 30)
        assert not LEFT.search(text)


def test_every_field_of_a_selection_is_asked() -> None:
    names = {field.name for field in fields(Selection)}
    assert names == {*PLAIN, "beside"}


async def drained(pages: AsyncIterator[object]) -> None:
    async for _ in pages:
        pass


async def test_every_statement_that_is_put_together_is_answered(
    tables: ArchiveTables, composed: set[str]
) -> None:
    engine = ArchiveEngine(tables)
    entries = EntryReader(engine, 1, SIZE)
    facts = FactPages(engine, Extent(1, SIZE, 1, SIZE))
    for selection in SELECTIONS:
        await entries.skip_to_newest(selection, 1)
        await entries.newest(selection)
        for parts in PARTS:
            await drained(entries.lines(selection, after=1, parts=parts))
        after = await facts.skip_to_newest(selection, 1)
        await drained(facts.pages(selection, after=after))
        await drained(facts.pages(selection, after=after + 1))
    await facts.of_entries({1: SINCE})
    gaps = GapReader(engine, 1, SIZE)
    await drained(gaps._paged(Operation.GAP_CLOSED, SINCE))

    assert composed == composers() - MADE_ONCE


MADE_ONCE = {"statement.question", "read_span.window_statement"}
"""Called where a module is loaded, and prepared like all of those."""


def test_a_statement_of_the_database_alone_is_refused() -> None:
    with pytest.raises(AssertionError, match="of a lease"):
        translated(Statement.of("select 'of a lease'"))
