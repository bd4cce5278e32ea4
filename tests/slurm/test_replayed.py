"""The poller against a server that replays 24.11: whole, and killed."""

import asyncio
import sys
from collections import Counter
from itertools import pairwise
from random import Random
from signal import SIGKILL
from typing import Any

import msgspec
import pytest

from recorder.facts.slurm import REQUEUED
from recorder.intake.recording import Recording
from recorder.intake.redact import Redaction, RedactionRules
from recorder.model.entry import Operation
from recorder.model.observation import SLURM
from recorder.sources.slurm.poller import DETAILS_MAX
from recorder.store.writer import Writer
from tests.slurm.replayed import SPEC, Replayed, source_of
from tests.support.postgres import Database
from tests.support.read_log import read_log
from tests.support.sampling import sampled

pytestmark = pytest.mark.timeout(120)

SEEDS = range(8)
DEATHS = 3
"""In one play of the recording."""


async def claims_of(database: Database) -> list[dict[str, Any]]:
    """Return the data of all claims about runs; each is there once."""
    whole = await read_log(database.dsn("reader"))
    events = [
        msgspec.json.decode(draft.raw)
        for _, draft in whole.entries
        if draft.operation is Operation.CLOUDEVENT
    ]
    assert max(Counter(one["id"] for one in events).values()) == 1
    return [one["data"] for one in events if one["type"] == "slurm.run"]


def assert_each_run_once(
    claims: list[dict[str, Any]], ended: dict[tuple[int, int], str]
) -> None:
    """No run is lost or doubled; how it ended is what accounting has."""
    ends = [one for one in claims if one.get("ended")]
    keys = Counter((one["job"], one["submit"]) for one in ends)
    assert max(keys.values()) == 1
    found = {(one["job"], one["submit"]): one["state"] for one in ends}
    with_nodes = {
        (one["job"], one["submit"]) for one in ends if one.get("members")
    }
    assert with_nodes == ended.keys()
    assert {key: found[key] for key in ended} == ended
    began = Counter(
        (one["job"], one["submit"], name)
        for one in claims
        for name, _ in one.get("began", ())
    )
    assert max(began.values()) == 1


async def play(database: Database, server: Replayed) -> None:
    """Poll the whole recording into a log."""
    stop = asyncio.Event()
    async with server.serving() as url, asyncio.TaskGroup() as tasks:
        recording = Recording(
            Writer(database.dsn("writer"), SPEC, holder="slurm"),
            Redaction(RedactionRules(), b"0" * 32),
        )
        tasks.create_task(recording.run({SLURM: source_of(url)}, stop))
        async with asyncio.timeout(60):
            await server.done.wait()
        stop.set()


async def test_the_poller_records_each_run_once(database: Database) -> None:
    server = Replayed()
    await play(database, server)
    claims = await claims_of(database)
    assert_each_run_once(claims, server.ended_runs)
    assert REQUEUED in server.ended_runs.values()
    asked = Counter(path.split("/")[3] for path in server.asked[1:])
    assert asked["jobs"] > 0
    # A job is asked for when its state changed, not with each poll.
    assert asked["job"] < asked["nodes"]


async def test_a_backlog_of_jobs_is_asked_for_a_part_a_poll(
    database: Database,
) -> None:
    waiting = 2 * DETAILS_MAX + 50
    server = Replayed(waiting=waiting)
    await play(database, server)
    claims = await claims_of(database)
    assert_each_run_once(claims, server.ended_runs)
    seen = {one["job"] for one in claims if one["job"] >= 1000}
    assert len(seen) == waiting
    details = [n for n, path in enumerate(server.asked) if "/job/" in path]
    nodes = [n for n, path in enumerate(server.asked) if "/nodes" in path]
    between = pairwise(nodes)
    most = max(sum(a < n < b for n in details) for a, b in between)
    assert most == DETAILS_MAX


async def test_ids_that_are_used_again_begin_an_epoch(
    database: Database,
) -> None:
    """slurmctld starts anew without its state, when all jobs had ended."""
    server = Replayed(times=2)
    await play(database, server)
    claims = await claims_of(database)
    assert_each_run_once(claims, server.ended_runs)
    epochs: dict[int, set[tuple[int, int]]] = {}
    for one in claims:
        if one.get("members") and one.get("ended"):
            key = one["job"], one["submit"]
            epochs.setdefault(one.get("epoch", 0), set()).add(key)
    assert epochs.keys() == {0, 1}
    assert {job for job, _ in epochs[0]} == {job for job, _ in epochs[1]}
    reasons = [
        draft.raw
        for _, draft in (await read_log(database.dsn("reader"))).entries
        if draft.operation is Operation.GAP_OPENED
    ]
    assert any(b"lost its state" in reason for reason in reasons)


class Killed:
    """Kills the process of a recorder at a request."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)
        self._left = 0
        self.process: asyncio.subprocess.Process

    async def begin(self, url: str, dsn: str) -> None:
        """Start a recorder, which is killed at some request."""
        self._left = self._chance.randrange(2, 60)
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.slurm.replayed", url, dsn)
        )

    def request(self) -> None:
        """Note a request."""
        self._left -= 1
        if not self._left:
            self.process.kill()

    def spare(self) -> None:
        """Kill it no more."""
        self._left = 0


@pytest.mark.parametrize("seed", sampled("killed pollers", SEEDS, 1))
async def test_no_run_is_lost_or_doubled_under_kills(
    database: Database, seed: int
) -> None:
    """The recorder is killed at random requests while the recording plays."""
    server, killed = Replayed(), Killed(seed)
    server.on_request = killed.request
    async with server.serving() as url:
        for _ in range(DEATHS):
            await killed.begin(url, database.dsn("writer"))
            assert await killed.process.wait() == -SIGKILL
        assert not server.done.is_set()
        await killed.begin(url, database.dsn("writer"))
        killed.spare()
        await server.done.wait()
        killed.process.terminate()
        assert await killed.process.wait() == 0
    assert_each_run_once(await claims_of(database), server.ended_runs)
