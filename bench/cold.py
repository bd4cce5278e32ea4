"""The cost of a query in the archive, relative to the same in the database.

The log of `questions` is archived, and the archive attached to an empty
database; both are queried in turns.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from statistics import median

import asyncpg

from bench.answers_log import Filled, Struck, fill
from bench.measuring import Number, say, server_folder
from bench.questions import SPEC
from recorder.answers.incidents import ask_incidents
from recorder.answers.node_questions import (
    IncidentsQuestion,
    TimelineQuestion,
    WhyQuestion,
)
from recorder.answers.ports import Reading
from recorder.answers.timeline import ask_timeline
from recorder.answers.why import ask_why
from recorder.explain.knowledge import load
from recorder.keeping.attaching import attach
from recorder.keeping.retaining import Retaining, retain
from recorder.keeping.retention.policy import Policy
from recorder.keeping.verifying import Verifying
from recorder.keeping.verifying_database import verify
from recorder.model.settings import Settings
from recorder.model.window import Window
from recorder.store.engine import make_engine
from recorder.store.read_logs import read_logs
from recorder.store.writer import Writer
from recorder.wiring.database import Database, open_database
from recorder.wiring.reading import Logs, open_logs

__all__ = ["archive", "bench", "filled_log"]

ENTRIES = 1_000_000
ASKED = 20
HALF_A_DAY = timedelta(hours=12)
Ask = Callable[[Reading, Struck], Awaitable[object]]


def bench(runs: int) -> list[Number]:
    del runs  # each question is asked many times
    with server_folder() as hot, server_folder() as cold:
        return asyncio.run(_measured(hot, cold))


async def _measured(hot: Path, cold: Path) -> list[Number]:
    place = cold / "archive-of-hot"
    async with AsyncExitStack() as stack:
        here, there = Settings(data_dir=hot), Settings(data_dir=cold)
        database = await stack.enter_async_context(open_database(here))
        made = await filled_log(database, ENTRIES)
        await archive(database, Policy(place=str(place)), drop=False)
        other = await stack.enter_async_context(open_database(there))
        await attach(other.dsn("retention"), str(place))
        both = [
            await stack.enter_async_context(open_logs(settings))
            for settings in (here, there)
        ]
        return await _asked(both, made)


async def filled_log(
    database: Database, entries: int, *, earlier: int = 0
) -> Filled:
    """Make the log of `answers_log`, as if there had been no hashes."""
    writer = Writer(database.dsn("writer"), SPEC, holder="bench")
    await writer.take_lease()
    await writer.close()
    connections = [
        await asyncpg.connect(database.dsn("owner")) for _ in range(2)
    ]
    made = await fill(connections, entries, earlier=earlier)
    await connections[0].execute("update recorder.log_head set peaks = null")
    for connection in connections:
        await connection.close()
    return made


async def archive(database: Database, policy: Policy, *, drop: bool) -> None:
    """Hash the log, by verifying it, and make a run of retention."""
    began = time.monotonic()
    engine = make_engine(database.dsn("reader"))
    (log,) = await read_logs(engine)
    await engine.dispose()
    found = await verify(
        database.dsn("writer"), log, Verifying(), asyncio.Event()
    )
    say(f"  {found.checked_entries:,} entries, {len(found.problems)} problems")
    say(f"  hashed in {time.monotonic() - began:.0f} s")
    began = time.monotonic()
    done = await retain(
        database.dsn("retention"), Retaining(policy=policy, drop=drop)
    )
    say(
        f"  {len(done.archived)} days archived, {len(done.dropped)} dropped"
        f" in {time.monotonic() - began:.0f} s, {done.bytes:,} B"
    )


async def _asked(both: Sequence[Logs], made: Filled) -> list[Number]:
    knowledge = load(())
    struck = Random("cold").sample(list(made.struck), ASKED)

    def window(hit: Struck) -> Window:
        return Window(hit.around - HALF_A_DAY, hit.around + HALF_A_DAY)

    async def why(now: Reading, hit: Struck) -> object:
        question = WhyQuestion(node=hit.node, window=window(hit))
        found = await ask_why(now, question, knowledge, now=made_at(hit))
        return [verdict.id for verdict in found.verdicts]

    async def timeline(now: Reading, hit: Struck) -> object:
        found = await ask_timeline(
            now,
            TimelineQuestion(node=hit.node, window=window(hit)),
            knowledge,
            now=made_at(hit),
        )
        return [(one.entry.position, one.index) for one in found.facts]

    async def incidents(now: Reading, hit: Struck) -> object:
        question = IncidentsQuestion(window=window(hit))
        found = await ask_incidents(now, question, knowledge, now=made_at(hit))
        return [one.first.id for one in found.incidents]

    def made_at(hit: Struck) -> datetime:
        return hit.around + HALF_A_DAY

    return [
        *await _timed(both, "why of a node, 24 h", why, struck, "<= 10"),
        *await _timed(
            both, "timeline of a node, 24 h", timeline, struck, "<= 10"
        ),
        *await _timed(
            both, "incidents of the fleet, 24 h", incidents, struck[:5], ""
        ),
    ]


async def _timed(
    both: Sequence[Logs],
    name: str,
    ask: Ask,
    struck: Sequence[Struck],
    target: str,
) -> list[Number]:
    """Query both, in turns, and compare the answers."""
    took: list[list[float]] = [[], []]
    for hit in struck:
        said = []
        for logs, times in zip(both, took, strict=True):
            await ask(await logs.read(1), hit)
            began = time.perf_counter()
            said.append(await ask(await logs.read(1), hit))
            times.append((time.perf_counter() - began) * 1000)
        assert said[0] == said[1], (name, hit.node)
    hot, cold = took
    say(f"  {name}: {median(hot):.1f} ms, archive {median(cold):.1f} ms")
    return [
        Number(name=f"{name}, of the database", unit="ms", values=hot),
        Number(name="  of the archive", unit="ms", values=cold),
        Number(
            name="  relative to it",
            unit="",
            values=[b / a for a, b in zip(hot, cold, strict=True)],
            target=target,
        ),
    ]
