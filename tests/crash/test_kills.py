"""Whenever the recorder dies, the next life goes on as if it had not.

A sample; ``python -m tests.crash`` kills everywhere.
"""

import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.conftest import TEMPLATE
from tests.crash.campaign import Campaign, kills_of
from tests.crash.failpoints import Kill
from tests.crash.nursery import nursery
from tests.support.postgres import DatabaseServer, fresh_database

SEED = 20261121

MOMENTS = ("before", "sent Q", "answered", "after")

SECONDS = 8.0
"""For the sample on each server."""


@asynccontextmanager
async def a_campaign(
    server: DatabaseServer, folder: Path, *, steps: bool = True
) -> AsyncIterator[Campaign]:
    async with (
        nursery() as children,
        fresh_database(server, TEMPLATE) as shared,
    ):
        yield Campaign(
            server=server,
            nursery=children,
            folder=folder,
            steps=steps,
            shared=shared,
        )


@pytest.mark.timeout(300)
async def test_a_recorder_may_die_between_any_two_steps(
    any_server: DatabaseServer, tmp_path: Path
) -> None:
    async with a_campaign(any_server, tmp_path) as campaign:
        first = await campaign.record("watch")
        wrong = [*first.wrong]
        kills = [*kills_of(first.passed)]
        chosen = random.Random(SEED)
        chosen.shuffle(kills)
        end = time.monotonic() + SECONDS
        for number, kill in enumerate(kills):
            if time.monotonic() > end:
                break
            again = [chosen.choice(kills)] if number % 4 == 0 else []
            outcome = await campaign.record("watch", kill, *again)
            wrong += [f"{kill}: {problem}" for problem in outcome.wrong]

    assert wrong == []


@pytest.mark.timeout(600)
async def test_a_recorder_may_die_around_every_statement_of_a_batch(
    embedded_server: DatabaseServer, tmp_path: Path
) -> None:
    async with a_campaign(embedded_server, tmp_path, steps=False) as campaign:
        first = await campaign.record("script")
        wrong = [*first.wrong]
        for kill in of_one_batch([*first.passed]):
            outcome = await campaign.record("script", kill)
            wrong += [f"{kill}: {problem}" for problem in outcome.wrong]
            assert outcome.died == [kill]

    assert wrong == []


def of_one_batch(places: list[str]) -> list[Kill]:
    """Return what the first batch passes, of places in order of passage.

    After a statement is before the next one.
    """
    first = places.index("BEGIN;, before")
    last = next(n for n, p in enumerate(places) if p.startswith("lookback"))
    kills = [
        Kill(place, 1)
        for place in places[first:last]
        if not place.endswith((", sent P", ", answered", ", after"))
    ]
    # The first commit ended a transaction that only read.
    commits = [f"COMMIT;, {moment}" for moment in MOMENTS]
    return kills + [Kill(place, 2) for place in commits]
