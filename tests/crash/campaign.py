"""Recording while being killed: one recording, and many of them.

`Campaign.record` lets a recorder live through a story or a script, kills it
at the chosen places, and returns what is wrong with the log in the end.
"""

import asyncio
import json
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import asyncpg

from tests.conftest import TEMPLATE
from tests.crash.checking import find_log
from tests.crash.child import Job
from tests.crash.failpoints import Kill
from tests.crash.keeping import Keeper
from tests.crash.nursery import Nursery
from tests.crash.script import EXPECTED
from tests.crash.story import COMPARED, Story
from tests.support.fake_cluster import FakeCluster
from tests.support.postgres import Database, DatabaseServer, fresh_database
from tests.support.read_log import WholeLog, whole_log

__all__ = ["Campaign", "Outcome", "Source", "kills_of"]

Source = Literal["watch", "script"]

SETTLE_SECONDS = 100.0
"""A bound for a machine that does much else."""
POLL_SECONDS = 0.02

REACHED = """
    select h.epoch, r.name, p.completed, p.gap_position
    from recorder.log l join recorder.log_head h using (log_id)
    join recorder.resume_point p using (log_id)
    join recorder.resource r using (resource_id)
    where l.cluster_uid = $1 and p.source = 'watch'
"""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What became of one recording."""

    died: list[Kill]
    wrong: list[str]
    passed: Counter[str] = field(default_factory=Counter)
    """By the last life, the one that was not killed."""


@dataclass(slots=True, kw_only=True)
class Campaign:
    """Recordings into one server, each into a log of its own."""

    server: DatabaseServer
    nursery: Nursery
    folder: Path
    steps: bool = True
    """Whether the steps of the event loop are counted too."""

    shared: Database | None = None
    """Where all logs go; None for a database of its own for each."""

    async def record(self, source: Source, *kills: Kill) -> Outcome:
        """Record once, dying at each of the places in turn."""
        async with self._database() as database:
            job = Job(
                source=source,
                dsn=database.dsn("writer"),
                cluster_uid=f"uid-{secrets.token_hex(8)}",
                kubeconfig=str(self.folder / "kubeconfig"),
                passed=str(self.folder / "passed"),
                kill=None,
                steps=self.steps,
            )
            reader = await asyncpg.connect(database.dsn("reader"))
            keeper = Keeper(
                nursery=self.nursery, reader=reader, job=job, kills=kills
            )
            try:
                if source == "script":
                    wrong = await _scripted(keeper)
                else:
                    wrong = await _watched(keeper, self.folder)
            finally:
                await reader.close()
        return Outcome(
            died=keeper.died,
            wrong=keeper.wrong + wrong,
            passed=_read(Path(job.passed)),
        )

    @asynccontextmanager
    async def _database(self) -> AsyncIterator[Database]:
        if self.shared is not None:
            yield self.shared
            return
        async with fresh_database(self.server, TEMPLATE) as database:
            yield database


async def _scripted(keeper: Keeper) -> list[str]:
    await keeper.keep()
    entries = [
        (draft.operation.value, draft.resource, draft.resource_version)
        for _, draft in (await _read_log(keeper)).entries
    ]
    return [] if entries == EXPECTED else [f"the log has {entries}"]


async def _watched(keeper: Keeper, folder: Path) -> list[str]:
    async with FakeCluster() as cluster, asyncio.TaskGroup() as group:
        cluster.uid = keeper.job.cluster_uid
        cluster.kubeconfig(folder)
        keeping: asyncio.Task[None]

        async def caught_up() -> None:
            await _caught_up(keeper, cluster, keeping)

        story = Story(cluster, caught_up)
        story.populate()
        keeping = group.create_task(keeper.keep())
        await story.run()
        while not keeping.done():
            # A stop may be what it dies of: then it is asked again.
            await caught_up()
            keeper.stop()
            await asyncio.wait({keeping}, timeout=0.1)
    return story.differences(await _read_log(keeper))


async def _read_log(keeper: Keeper) -> WholeLog:
    log = await find_log(keeper.reader, keeper.job.cluster_uid)
    return await whole_log(keeper.reader, log)


async def _caught_up(
    keeper: Keeper,
    cluster: FakeCluster,
    keeping: asyncio.Task[None],
) -> None:
    """Wait until what is compared is at the newest version, and no gap open.

    What is watched and not compared may lag behind after a rewind; a stop
    before its new list would rightly leave its gap open.
    """
    wanted = {f"v1/{plural}" for _, plural in COMPARED}
    async with asyncio.timeout(SETTLE_SECONDS):
        while not keeping.done():
            rows = await keeper.ask(REACHED, cluster.uid)
            reached = {
                row["name"]
                for row in rows
                if row["epoch"] == cluster.epoch + 1
                and row["gap_position"] is None
                and int(row["completed"] or 0) >= cluster.revision
            }
            gaps = [row for row in rows if row["gap_position"] is not None]
            if wanted <= reached and not gaps:
                return
            cluster.bookmark()
            await asyncio.sleep(POLL_SECONDS)


def _read(passed: Path) -> Counter[str]:
    return Counter(json.loads(passed.read_text()))


def kills_of(passed: Counter[str]) -> Sequence[Kill]:
    """Return the first, the middle and the last passage of each place."""
    return sorted(
        Kill(place, passage)
        for place, count in passed.items()
        for passage in {1, (count + 1) // 2, count}
    )
