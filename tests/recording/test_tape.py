"""A tape of a recording leads to the same log, however it was made."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from recorder.model.entry import Draft
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.machines import gpu_machines
from tests.cluster.waiting import until
from tests.corpus.recording import RecorderProcess
from tests.support.postgres import Database
from tests.support.recorded import Recorded

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.asyncio(loop_scope="module"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cluster(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Cluster]:
    """One for both: each records it into a database of its own."""
    options = Options(machines=gpu_machines(2))
    folder = tmp_path_factory.mktemp("tapes") / "cluster"
    async with Cluster.start(folder, options) as made:
        yield made


def by_object(entries: list[tuple[int, Draft]]) -> dict[object, list[object]]:
    """Return the bytes recorded of each object, in order."""
    recorded: dict[object, list[object]] = defaultdict(list)
    for _, draft in entries:
        thing = (draft.resource, draft.identity)
        recorded[thing].append(
            (draft.operation, draft.observed_at, draft.raw, draft.node)
        )
    return recorded


async def exists(file: Path) -> bool:
    return await asyncio.to_thread(file.exists)


async def play(tape: Path, database: Database, folder: Path) -> str:
    process = RecorderProcess(
        ["tape", "play", str(tape)],
        {
            "RECORDER_DATABASE_URL": database.dsn("writer"),
            "RECORDER_DATA_DIR": str(folder / "data"),
        },
    )
    await process.start()
    assert await process.ended() == 0, process.said
    return process.said


async def test_a_tape_from_the_start_plays_to_the_same_log(
    tmp_path: Path, database: Database, cluster: Cluster
) -> None:
    tape = tmp_path / "a.tape.jsonl.zst"
    recorded = await Recorded.begun(
        cluster, database, tmp_path, "--tape", str(tape)
    )
    await cluster.machines["gpu-002"].crash()
    await cluster.machines["gpu-002"].boot()
    await cluster.until_ready("gpu-002")
    await recorded.settle(3)
    await recorded.stop()
    await play(tape, database, tmp_path)
    live, played = await recorded.log(1), await recorded.log(2)

    assert by_object(played.entries) == by_object(live.entries)
    assert "nothing added" in await play(tape, database, tmp_path)
    assert len((await recorded.log(2)).entries) == len(played.entries)


async def test_a_tape_from_the_middle_begins_with_all_that_is_alive(
    tmp_path: Path, database: Database, cluster: Cluster
) -> None:
    tape = tmp_path / "b.tape.jsonl.zst"
    recorded = await Recorded.begun(cluster, database, tmp_path)
    asking = RecorderProcess(
        ["tape", "record", str(tape)],
        {"RECORDER_DATA_DIR": str(tmp_path / "data")},
    )
    await asking.start()
    await until(lambda: exists(tape), "the tape exists")
    before = (await recorded.log()).recovered
    await recorded.settle(2)
    await cluster.kubectl("annotate", "node", "gpu-001", "after=it")
    await recorded.settle(3)
    assert await asking.stop() == 0, asking.said
    await recorded.stop()
    await play(tape, database, tmp_path)
    played = (await recorded.log(2)).recovered

    assert {(head.resource, head.identity.uid) for head in played.heads} >= {
        (head.resource, head.identity.uid) for head in before.heads
    }
    assert any(
        b'"after":"it"' in draft.raw
        for _, draft in (await recorded.log(2)).entries
    )
