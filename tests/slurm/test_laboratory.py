"""A real Slurm of Debian, polled: what happens there is answered."""

import pytest

from recorder.model.outcomes import WorkloadState
from tests.slurm.recording import polled
from tests.support.postgres import Database
from tests.support.read_log import read_log

pytestmark = pytest.mark.timeout(120)


async def test_a_sample_of_what_happens_to_jobs(database: Database) -> None:
    async with polled(database, 2) as slurm:
        lab = slurm.lab
        exits = lab.submit("-N1", "-n1", script="exit 3")
        await slurm.until_state(exits, "FAILED")
        gang = lab.submit("-N2", "-n2", "--exclusive", "-p", "train")
        await slurm.until_state(gang, "RUNNING")
        taker = lab.submit("-N1", "-n1", "-p", "infer", script="sleep 1")
        await slurm.until_seen(gang, "PENDING")
        await slurm.until_state(taker, "COMPLETED")
        lab.run(
            "scontrol", "update", "nodename=gpu-002", "state=drain",
            "reason=xid79 seen by bob",
        )  # fmt: skip
        await slurm.until(
            lambda: slurm.source.state.nodes["gpu-002"].by == "root"
        )
    failed = await slurm.why(exits)
    assert [one.ended_by for one in failed.endings] == ["container-exit"]
    assert "exit code 3" in failed.endings[0].sentence
    requeued = (await slurm.why(gang)).endings[0]
    # Without accounting a preemption looks like a requeue.
    assert (requeued.ended_by, requeued.confidence) == (
        "unrecorded",
        "unknown",
    )
    assert {*requeued.nodes} == {"gpu-001", "gpu-002"}
    assert (await slurm.why(taker)).state is WorkloadState.COMPLETED
    raw = b"".join(
        draft.raw
        for _, draft in (await read_log(database.dsn("reader"))).entries
    )
    assert b"xid79 seen by bob" in raw
    assert b"exit 3" not in raw  # the script
