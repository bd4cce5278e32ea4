"""An import is killed between its commits, and repeated.

The log is then what it is without a kill: each object, Event and audit record
of the files once.
"""

import asyncio
import json
import signal
from collections import Counter
from pathlib import Path

import pytest

from recorder.keeping.importing import Importing, find_all, import_all
from recorder.model.settings import Settings
from recorder.sources.audit import importing as audit_importing
from recorder.sources.dumps import Shelf
from recorder.sources.dumps import importing as dump_importing
from tests.audit.test_exports import RECORD
from tests.conftest import TEMPLATE
from tests.crash.failpoints import Kill
from tests.crash.test_playing import (
    EXPIRE,
    entries_of,
    in_a_child,
)
from tests.dumps.saved import as_listed, demo
from tests.support.fact_rows import ask
from tests.support.postgres import Database, DatabaseServer, fresh_database
from tests.support.sampling import sampled

COMMITTED = "COMMIT;, after"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    folder = tmp_path / "saved"
    folder.mkdir()
    objects = demo().objects
    for resource in ("v1/nodes", "v1/events"):
        text = as_listed(objects[resource][:40])
        (folder / f"{resource[3:]}.json").write_text(text)
    records = [RECORD | {"auditID": f"record-{n}"} for n in range(40)]
    (folder / "audit.log").write_text(
        "".join(json.dumps(one) + "\n" for one in records)
    )
    return folder


async def import_folder(folder: Path, database: Database) -> None:
    importing = Importing(paths=[folder], chooses=lambda *_: True)
    stop = asyncio.Event()
    with Shelf() as shelf:
        found = await find_all(importing, shelf, stop)
        assert found.things
        assert found.audit
        await import_all(
            importing,
            found,
            shelf,
            Settings(data_dir=folder.parent),
            database.dsn("writer"),
            stop,
        )


def imported_in_a_child(
    folder: Path, database: Database, kill: Kill | None
) -> tuple[int, Counter[str]]:
    return in_a_child(
        lambda: import_folder(folder, database),
        folder.with_name("passed"),
        kill,
    )


@pytest.mark.timeout(300)
def test_a_killed_import_that_is_repeated_adds_everything_once(
    embedded_server: DatabaseServer,
    saved: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dump_importing, "PORTION_BYTES", 1 << 13)
    monkeypatch.setattr(audit_importing, "PORTION_BYTES", 1 << 12)
    with asyncio.Runner() as runner:
        fresh = fresh_database(embedded_server, TEMPLATE)
        database = runner.run(fresh.__aenter__())
        status, passed = imported_in_a_child(saved, database, None)
        assert status == 0
        whole = runner.run(entries_of(database))
        runner.run(fresh.__aexit__(None, None, None))
        assert len(whole) > 80
        commits = range(1, passed[COMMITTED] + 1)
        assert len(commits) > 4
        cut_short = 0
        for number in sampled("killed imports", commits, 3):
            kill = Kill(COMMITTED, number)
            again = fresh_database(embedded_server, TEMPLATE)
            database = runner.run(again.__aenter__())
            status, seen = imported_in_a_child(saved, database, kill)
            if status == 0:
                # Imported in fewer transactions than the first time.
                assert seen[COMMITTED] < number, kill
            else:
                assert status == -signal.SIGKILL, kill
                cut_short += len(runner.run(entries_of(database))) < len(whole)
            runner.run(ask(database, EXPIRE))
            runner.run(import_folder(saved, database))
            assert runner.run(entries_of(database)) == whole, kill
            runner.run(again.__aexit__(None, None, None))
        assert cut_short, "no kill came before the end"
