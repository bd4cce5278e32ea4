"""The crash matrix: every write, failed and not applied, failed and applied.

The wire to PostgreSQL is cut at the write, before it gets there or before its
answer comes back. Each row says whether the same process goes on from there,
and whether it has to give up and begin anew. After every step, and again
after a restart, the whole log is verified. A write of the store that no row
names fails the last test.
"""

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recorder.intake.deriving import Deriver
from recorder.intake.ledger import Ledger
from recorder.intake.state import Batch
from recorder.model.errors import (
    LogUnavailableError,
    StandingByError,
    UnknownStateError,
)
from recorder.store.writer import Writer
from tests.contract.test_log import SPEC, Observer
from tests.crash.checking import check_log
from tests.crash.rows import COMMIT, MATRIX, Fate, Write
from tests.crash.test_rederiving import REDERIVING
from tests.crash.test_retaining import RETAINING
from tests.crash.test_sealing import SEALING
from tests.crash.writes import on_the_wire, writes_of_the_store
from tests.support.builders import (
    PODS,
    a_frame,
    an_object,
)
from tests.support.cut_proxy import CutProxy, cut_proxy
from tests.support.postgres import Database, connected


class Stage:
    """A log, its writer, and the wire between them."""

    def __init__(self, database: Database, proxy: CutProxy) -> None:
        self.database = database
        self.proxy = proxy
        self.writer = Writer(proxy.dsn, SPEC, holder="a")
        self.observer: Observer

    async def verify(self) -> None:
        assert await check_log(self.database.dsn("reader")) == []

    async def take(self) -> None:
        self.observer = Observer(await self.writer.take_lease())
        await self.verify()

    async def append(self, batch: Batch) -> None:
        await Deriver(self.writer).derive(batch)
        await self.writer.append(batch)
        await self.verify()

    def arm(self, write: Write, fate: Fate) -> None:
        named = write.cut != COMMIT
        self.proxy.at = on_the_wire(write.cut) if named else COMMIT.encode()
        self.proxy.heard, self.proxy.fate = b"", fate

    async def was_cut(self, write: Write) -> None:
        """See that the wire was cut where the row says."""
        assert self.proxy.cuts == 1
        for statement in write.statements:
            assert on_the_wire(statement) in self.proxy.heard, statement
        await self.verify()

    async def size(self) -> int:
        size = await self.ask("select max(size) from recorder.log_head")
        assert isinstance(size, int)
        return size

    async def ask(self, question: str) -> object:
        async with connected(self.database.superuser_dsn()) as connection:
            return await connection.fetchval(question)

    async def restart(self) -> None:
        """Begin anew, from what is committed alone."""
        await self.writer.close()
        self.writer = Writer(self.proxy.dsn, SPEC, holder="a")
        ledger = self.observer.ledger
        recovered = await self.writer.take_lease()
        await self.verify()
        again = Ledger(recovered)
        assert (recovered.size + 1, recovered.epoch) == (
            ledger.position,
            ledger.epoch,
        )
        assert again.streams == ledger.streams
        assert sorted(again.versions, key=str) == sorted(
            ledger.versions, key=str
        )
        self.observer = Observer(recovered)


@pytest.fixture
async def stage(database: Database) -> AsyncIterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="rec-") as folder:
        async with cut_proxy(database.dsn("writer"), Path(folder)) as proxy:
            stage = Stage(database, proxy)
            yield stage
            await stage.writer.close()


@pytest.mark.parametrize(
    ("write", "fate", "progress", "fatal"),
    MATRIX,
    ids=[
        f"{write.name}: {'not applied' if fate == 'lost' else 'applied'}"
        for write, fate, _, _ in MATRIX
    ],
)
async def test_a_write_that_fails_leaves_a_whole_log(
    stage: Stage, write: Write, fate: Fate, *, progress: bool, fatal: bool
) -> None:
    steps = {
        "take": take,
        "append": append,
        "release": release,
        "behind": behind,
    }
    assert await steps[write.step](stage, write, fate) == (progress, fatal)

    await stage.restart()
    await stage.append(
        stage.observer.batch(a_frame(PODS, "ADDED", an_object("last", 99)))
    )
    await stage.restart()


async def take(stage: Stage, write: Write, fate: Fate) -> tuple[bool, bool]:
    stage.arm(write, fate)
    with pytest.raises(LogUnavailableError):
        await stage.writer.take_lease()
    await stage.was_cut(write)

    await stage.take()
    return True, False


async def begin(stage: Stage, write: Write) -> None:
    """Let a process write what is there before, and another go on.

    The other has prepared no statement yet, so that all can be heard.
    """
    await stage.take()
    if write.before:
        await stage.append(stage.observer.batch(*write.before))
    if write.other_rules:
        await stage.ask(
            "update recorder.derivation set rules = 0 returning rules"
        )
    await stage.restart()


async def append(stage: Stage, write: Write, fate: Fate) -> tuple[bool, bool]:
    await begin(stage, write)
    batch = stage.observer.batch(*write.observed)
    await cut(stage, write, fate, batch)

    await stage.append(batch)
    return True, False


async def cut(stage: Stage, write: Write, fate: Fate, batch: Batch) -> None:
    """Append, and be cut off; see that it is in the log or is not."""
    before = await stage.size()
    await Deriver(stage.writer).derive(batch)
    stage.arm(write, fate)
    with pytest.raises(LogUnavailableError):
        await stage.writer.append(batch)
    await stage.was_cut(write)
    added = await stage.size() - before
    assert added == (len(batch) if fate == "silent" else 0)


async def release(stage: Stage, write: Write, fate: Fate) -> tuple[bool, bool]:
    await begin(stage, write)
    stage.arm(write, fate)
    await stage.writer.close()
    await stage.was_cut(write)

    other = Writer(stage.database.dsn("writer"), SPEC, holder="b")
    try:
        await other.take_lease()
    except StandingByError:
        await stage.ask(
            "update recorder.log_head set expires_at = '-infinity'"
            " returning log_id"
        )
        await other.take_lease()
        return False, False
    else:
        return True, False
    finally:
        await other.close()


async def behind(stage: Stage, write: Write, fate: Fate) -> tuple[bool, bool]:
    await begin(stage, write)
    batch = stage.observer.batch(*write.observed)
    await cut(stage, write, fate, batch)

    other = Writer(stage.database.dsn("writer"), SPEC, holder="a")
    observer = Observer(await other.take_lease())
    if fate == "lost":
        await other.append(observer.batch(*write.observed))
    with pytest.raises(UnknownStateError):
        await stage.writer.append(batch)
    await other.close()
    await stage.verify()
    return False, True


NOTIFYING = {
    write
    for write in writes_of_the_store()
    if "outbox." in write or "recorder.notification " in write
}
"""One statement each, of a process that records nothing: see
`tests/notification/test_command.py`, where it is killed."""


def test_no_write_is_without_its_rows() -> None:
    named = {
        fate: {s for w, f, _, _ in MATRIX if f == fate for s in w.statements}
        for fate in ("lost", "silent")
    }

    assert named["lost"] == named["silent"]
    beside = REDERIVING | SEALING | RETAINING | NOTIFYING
    assert named["lost"] | beside == writes_of_the_store()
