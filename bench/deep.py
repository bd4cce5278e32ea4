"""Whether archived days slow down queries about days in the database.

Two logs hold the same ten days. One has many more before them, which are
archived and dropped. Both are queried about the ten days, in turns.
"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from statistics import quantiles

from bench.answers_log import BEGAN, ENDED, Struck, list_struck
from bench.cold import archive, filled_log
from bench.measuring import (
    Number,
    machine,
    postgres_cpu_seconds,
    say,
    server_folder,
    summary,
)
from recorder.answers.incidents import ask_incidents
from recorder.answers.node_questions import IncidentsQuestion, WhyQuestion
from recorder.answers.ports import Reading
from recorder.answers.why import ask_why
from recorder.explain.knowledge import load
from recorder.keeping.collector import prompt_collector
from recorder.keeping.retention.policy import LOOKBACK, Policy
from recorder.model.settings import Settings
from recorder.model.window import Window
from recorder.wiring.database import open_database
from recorder.wiring.reading import Logs, open_logs

__all__ = ["bench"]

ENTRIES = 100_000
"""Of the ten days."""

EARLIER = 90
"""Days before them; the last of them stays, since answers look back a day."""

ASKED = 40
ASKED_OF_ALL = 10
TURNS = 3
Ask = Callable[[Reading, Struck], Awaitable[object]]


def bench(runs: int) -> list[Number]:
    del runs  # each question is asked many times
    with server_folder() as alone, server_folder() as behind:
        return measured((alone, behind), ENTRIES, EARLIER)


def measured(
    folders: tuple[Path, Path], entries: int, earlier: int
) -> list[Number]:
    """Query the logs in two data folders, which are made if missing.

    Args:
        folders: of the ten days alone, and of those with others before them.
        entries: of the ten days.
        earlier: days before them.
    """
    for one, days in zip(folders, (0, earlier), strict=True):
        if not (one / "postgres").exists():
            asyncio.run(_make(one, entries, days))
    return asyncio.run(_asked(folders))


async def _make(folder: Path, entries: int, earlier: int) -> None:
    async with open_database(Settings(data_dir=folder)) as database:
        made = await filled_log(database, entries, earlier=earlier)
        say(f"  {made.entries:,} entries in {folder}")
        hot = datetime.now(UTC) - BEGAN
        policy = Policy(hot=hot, place=str(folder / "archive"))
        await archive(database, policy, drop=True)


async def _asked(folders: tuple[Path, Path]) -> list[Number]:
    prompt_collector()  # as where questions are answered
    knowledge = load(())
    struck = Random("deep").sample(list_struck(), ASKED)
    ten_days = Window(BEGAN, ENDED)

    async def why(now: Reading, hit: Struck) -> object:
        question = WhyQuestion(node=hit.node, window=ten_days)
        found = await ask_why(now, question, knowledge, now=ENDED)
        return [(one.between, one.sentence) for one in found.verdicts]

    async def incidents(now: Reading, hit: Struck) -> object:
        window = Window(hit.around, hit.around + LOOKBACK)
        question = IncidentsQuestion(window=window)
        found = await ask_incidents(now, question, knowledge, now=ENDED)
        return len(found.incidents)

    async with AsyncExitStack() as stack:
        both = [
            await stack.enter_async_context(
                open_logs(Settings(data_dir=folder))
            )
            for folder in folders
        ]
        return [
            *await _timed(both, folders, "why of a node", why, struck * TURNS),
            *await _timed(
                both,
                folders,
                "incidents of the fleet, 24 h",
                incidents,
                struck[:ASKED_OF_ALL] * TURNS,
            ),
        ]


async def _timed(
    both: Sequence[Logs],
    folders: Sequence[Path],
    name: str,
    ask: Ask,
    struck: Sequence[Struck],
) -> list[Number]:
    """Query both, in turns, and compare the answers."""
    took: list[list[float]] = [[], []]
    spent = [0.0, 0.0]
    for hit in struck:
        said = []
        for place, (logs, folder) in enumerate(
            zip(both, folders, strict=True)
        ):
            await ask(await logs.read(1), hit)
            began = time.perf_counter()
            ours, theirs = time.process_time(), postgres_cpu_seconds(folder)
            said.append(await ask(await logs.read(1), hit))
            took[place].append((time.perf_counter() - began) * 1000)
            spent[place] += time.process_time() - ours
            spent[place] += postgres_cpu_seconds(folder) - theirs
        assert said[0] == said[1], (name, hit.node)
    cuts = [quantiles(times, n=20) for times in took]
    return [
        *(
            Number(
                name=f"{name}, {which}, {part}", unit="ms", values=[cut[at]]
            )
            for which, cut in zip(
                ("alone", "behind others"), cuts, strict=True
            )
            for part, at in (("p50", 9), ("p95", 18))
        ),
        Number(
            name="  behind others, relative to alone, p95",
            unit="",
            values=[cuts[1][18] / cuts[0][18]],
            target="<= 1.3",
        ),
        Number(
            name="  the same, processor time",
            unit="",
            values=[spent[1] / spent[0]],
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.deep")
    parser.add_argument(
        "folder", type=Path, help="of the logs, made if they are not there"
    )
    parser.add_argument("--entries", type=int, default=ENTRIES)
    parser.add_argument("--earlier", type=int, default=EARLIER)
    given = parser.parse_args()
    folders = given.folder / "alone", given.folder / "behind"
    numbers = measured(folders, given.entries, given.earlier)
    print(summary(numbers, machine()))


if __name__ == "__main__":
    main()
