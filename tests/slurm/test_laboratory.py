"""A real Slurm of Debian, polled: what happens there is answered."""

from dataclasses import replace

import pytest

from recorder.doctor.check import Check
from recorder.doctor.slurm import look_at_slurm
from recorder.model.outcomes import WorkloadState
from recorder.model.settings import Settings
from recorder.wiring.polling import look_at_slurm as asked
from tests.slurm.laboratory import CLUSTER, Laboratory
from tests.slurm.recording import polled
from tests.support.postgres import Database
from tests.support.read_log import read_log

pytestmark = pytest.mark.timeout(120)


async def proved(lab: Laboratory) -> None:
    """Let the doctor prove address, token, version and mapping."""
    settings = Settings(
        slurm_url=lab.url,
        slurm_cluster=CLUSTER,
        slurm_token_file=lab.token_file,
    )

    async def checks(settings: Settings) -> list[Check]:
        return await look_at_slurm(settings, lambda: asked(settings))

    of_slurm, of_nodes = await checks(settings)
    assert of_slurm.ok
    assert "v0.0.38" in of_slurm.says
    assert not of_nodes.ok  # nothing says which Node they are
    assert "0 of 2" in of_nodes.says
    same = replace(settings, slurm_same_names=True)
    assert [check.ok for check in await checks(same)] == [True, True]
    other = replace(settings, slurm_cluster="other")
    away = replace(settings, slurm_url="http://127.0.0.1:9")
    lab.token_file.write_text("expired")
    (expired,) = await checks(settings)
    lab.write_token()
    assert "refused the token" in expired.says
    for wrong in (away,):
        (check,) = await checks(wrong)
        assert (check.ok, check.remedy is not None) == (False, True)
    lab.submit("-n1", script="true")
    (check,) = await checks(other)
    assert 'of the Slurm cluster "lab"' in check.says


async def test_a_sample_of_what_happens_to_jobs(database: Database) -> None:
    async with polled(database, 2) as slurm:
        lab = slurm.lab
        await proved(lab)
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
    # Without accounting only the log says that it was no requeue.
    assert requeued.ended_by == "preemption"
    assert requeued.preemptor is not None
    assert requeued.preemptor.name == str(taker)
    assert {*requeued.nodes} == {"gpu-001", "gpu-002"}
    assert (await slurm.why(taker)).state is WorkloadState.COMPLETED
    raw = b"".join(
        draft.raw
        for _, draft in (await read_log(database.dsn("reader"))).entries
    )
    assert b"xid79 seen by bob" in raw
    assert b"exit 3" not in raw  # the script
