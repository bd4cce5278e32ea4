"""Kill the recorder everywhere.

``python -m tests.crash [SECONDS] [debian|embedded]`` plays the script and the
story once, to know every place that they pass, then dies at the first, the
middle and the last passage of each, and of every fourth again in the life
after that. It prints what is wrong as it is found, and a table; it ends early,
with what it has, after the seconds that it was given.
"""

import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from recorder.wiring.database import roles_sql
from tests.conftest import TEMPLATE, migrated
from tests.crash.campaign import Campaign, Outcome, Source, kills_of
from tests.crash.failpoints import Kill
from tests.crash.nursery import nursery
from tests.crash.table import table
from tests.support.postgres import (
    DatabaseServer,
    make_template,
    start_debian,
    start_embedded,
)

WORKERS = 2
"""Recordings at a time; one waits for most of its time."""

AGAIN = 4
"""Of so many kills one is followed by a second, in the next life."""

SERVERS = {"debian": start_debian, "embedded": start_embedded}
SOURCES: tuple[Source, ...] = ("script", "watch")


class _Everywhere:
    """The kills still to be done, and what came of those that were."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._random = random.Random(0)
        self.passed: dict[Source, Counter[str]] = {}
        self.planned: list[tuple[Source, list[Kill]]] = []
        self.died: dict[Source, list[Kill]] = {name: [] for name in SOURCES}
        self.wrong = 0

    def plan(self, source: Source, outcome: Outcome) -> None:
        """Take the places of a recording that was not killed."""
        self.passed[source] = outcome.passed
        kills = kills_of(outcome.passed)
        self.planned += [
            (
                source,
                [kill, self._random.choice(kills)]
                if number % AGAIN == 0
                else [kill],
            )
            for number, kill in enumerate(kills)
        ]

    def next(self) -> Iterator[tuple[Source, list[Kill]]]:
        """Yield the plans one after another, while there is time."""
        self._random.shuffle(self.planned)
        for plan in self.planned:
            if time.monotonic() > self._end:
                print("the time is over", flush=True)
                return
            yield plan

    def note(
        self, source: Source, kills: list[Kill], outcome: Outcome
    ) -> None:
        """Take what came of one."""
        self.died[source] += outcome.died
        self.report(source, kills, outcome.wrong)

    def report(
        self, source: Source, kills: list[Kill], wrong: list[str]
    ) -> None:
        """Say what is wrong."""
        self.wrong += bool(wrong)
        for problem in wrong:
            print(f"{source}, {' and '.join(map(str, kills))}: {problem}")
        sys.stdout.flush()


async def _everywhere(server: DatabaseServer, seconds: float) -> int:
    await make_template(server, TEMPLATE, migrated)
    all_of_it = _Everywhere(seconds)
    with tempfile.TemporaryDirectory(prefix="crash-") as path:
        for source in SOURCES:
            async with nursery() as children:
                campaign = Campaign(
                    server=server, nursery=children, folder=Path(path)
                )
                outcome = await campaign.record(source)
                all_of_it.report(source, [], outcome.wrong)
                all_of_it.plan(source, outcome)
        plans = all_of_it.next()
        async with asyncio.TaskGroup() as group:
            for number in range(WORKERS):
                folder = Path(path) / str(number)
                folder.mkdir()
                group.create_task(_work(server, folder, plans, all_of_it))
    for source in SOURCES:
        kills = [
            kill
            for planned, kills in all_of_it.planned
            for kill in kills
            if planned == source
        ]
        print(f"\n{source}")
        for line in table(
            all_of_it.passed[source], kills, all_of_it.died[source]
        ):
            print(line)
    return 1 if all_of_it.wrong else 0


async def _work(
    server: DatabaseServer,
    folder: Path,
    plans: Iterator[tuple[Source, list[Kill]]],
    all_of_it: _Everywhere,
) -> None:
    for source, kills in plans:
        async with nursery() as children:
            campaign = Campaign(server=server, nursery=children, folder=folder)
            while await _recorded(campaign, source, kills, all_of_it):
                following = next(plans, None)
                if following is None:
                    return
                source, kills = following  # noqa: PLW2901 - the same nursery


async def _recorded(
    campaign: Campaign,
    source: Source,
    kills: list[Kill],
    all_of_it: _Everywhere,
) -> bool:
    """Record once; return whether nothing was wrong."""
    outcome = Outcome(died=[], wrong=[])
    try:
        outcome = await campaign.record(source, *kills)
    except* Exception as group:  # noqa: BLE001 - said, and counted
        outcome.wrong = [repr(exc) for exc in group.exceptions]
    all_of_it.note(source, kills, outcome)
    return not outcome.wrong


def _main() -> int:
    seconds, name = 3600.0, "embedded"
    for argument in sys.argv[1:]:
        if argument in SERVERS:
            name = argument
        else:
            seconds = float(argument)
    began = time.monotonic()
    with SERVERS[name](roles_sql()) as server:
        status = asyncio.run(_everywhere(server, seconds))
    print(f"{time.monotonic() - began:.0f} s on {name}")
    return status


if __name__ == "__main__":
    sys.exit(_main())
