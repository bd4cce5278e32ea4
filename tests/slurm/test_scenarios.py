"""What happens to jobs and nodes of a real Slurm, one story at a time.

Played by `make scenarios`; each commit plays the sample of
`test_laboratory.py`.
"""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from recorder.explain.ending import Ending
from recorder.model.entry import Operation
from recorder.model.observation import SLURM
from recorder.sources.slurm import SlurmClient, SlurmError
from recorder.sources.slurm.shapes import read_job, read_node
from tests.slurm.laboratory import Laboratory
from tests.slurm.recording import Polled, polled
from tests.slurm.releases import releases
from tests.support.postgres import Database
from tests.support.read_log import read_log
from tests.support.sampling import sampled

pytestmark = pytest.mark.timeout(240)


class Said(NamedTuple):
    """What a story leaves in the log."""

    runs: list[dict[str, Any]]
    acts: list[dict[str, Any]]
    gaps: list[str]


Check = Callable[[Polled, Said], Awaitable[None]]
Story = Callable[[Polled], Awaitable[Check]]


def ended(said: Said, job: int) -> list[str]:
    """Return how the runs of a job ended, in order."""
    return [
        run["state"]
        for run in said.runs
        if run["job"] == job and run.get("ended")
    ]


async def first(slurm: Polled, job: int) -> Ending:
    return (await slurm.why(job)).endings[0]


async def _gang(slurm: Polled, *words: str) -> int:
    job = slurm.lab.submit("-N2", "-n2", "--exclusive", *words)
    await slurm.until_state(job, "RUNNING")
    return job


async def killed(slurm: Polled) -> Check:
    """A slurmd is killed: the controller forgets where the job ran."""
    job = await _gang(slurm)
    slurm.lab.end("gpu-002")
    await slurm.until_lost("gpu-002", job)

    async def check(slurm: Polled, said: Said) -> None:
        assert ended(said, job) == ["NODE_FAIL"]
        ending = await first(slurm, job)
        assert (ending.ended_by, ending.confidence) == (
            "node-failure",
            "likely",
        )
        assert {*ending.nodes} == {"gpu-001", "gpu-002"}
        assert "lost" in {act["act"] for act in said.acts}

    return check


async def rebooted(slurm: Polled) -> Check:
    """A node comes back with a new boot under its job."""
    job = await _gang(slurm)
    slurm.lab.end("gpu-002")
    slurm.lab.start_slurmd("gpu-002", new_boot=True)
    await slurm.until_lost("gpu-002", job)

    async def check(_: Polled, said: Said) -> None:
        assert ended(said, job) == ["NODE_FAIL"]
        assert {"rebooted", "boot"} <= {act["act"] for act in said.acts}

    return check


async def preempted(slurm: Polled) -> Check:
    """A job of a higher partition takes a node; slurmctld's log names it."""
    job = await _gang(slurm, "-p", "train")
    taker = slurm.lab.submit("-N1", "-n1", "-p", "infer")
    await slurm.until_state(taker, "RUNNING")
    await slurm.until_seen(job, "PENDING")

    async def check(slurm: Polled, said: Said) -> None:
        assert ended(said, job) == ["PREEMPTED"]
        ending = await first(slurm, job)
        assert ending.ended_by == "preemption"
        assert ending.preemptor is not None
        assert ending.preemptor.name == str(taker)

    return check


async def requeued(slurm: Polled) -> Check:
    """A person puts a job back: not a preemption, though it looks so."""
    job = await _gang(slurm)
    slurm.lab.run("scontrol", "requeuehold", str(job))
    await slurm.until_seen(job, "PENDING")

    async def check(slurm: Polled, said: Said) -> None:
        assert ended(said, job) == ["REQUEUED"]
        found = await slurm.why(job)
        ending = found.endings[0]
        assert (ending.ended_by, ending.preemptor) == ("eviction", None)
        assert found.state == "suspended"

    return check


async def held(slurm: Polled) -> Check:
    """A person holds a job that waits; slurmctld's log names who."""
    behind = await _gang(slurm)
    job = slurm.lab.submit("-N1", "-n1")
    never = slurm.lab.submit("-N1", "-n1", "--hold")
    await slurm.until_seen(never, "PENDING")

    def is_held() -> bool:
        return slurm.source.state.runs[job].held

    slurm.lab.run("scontrol", "hold", str(job))
    await slurm.until(is_held)
    slurm.lab.run("scontrol", "release", str(job))
    await slurm.until(lambda: not is_held())
    slurm.lab.run("scontrol", "hold", str(job))
    await slurm.until(is_held)
    slurm.lab.run("scancel", str(behind))
    await slurm.until_seen(behind, "CANCELLED")

    async def check(slurm: Polled, said: Said) -> None:
        holds = [
            (one["job"], one["hold"], one.get("hold_by"))
            for one in said.runs
            if one.get("hold")
        ]
        assert holds == [
            (never, "held", None),
            (job, "held", "uid 0"),
            (job, "released", "uid 0"),
            (job, "held", "uid 0"),
        ]
        found = await slurm.why(job)
        assert found.state == "suspended"
        (obstacle,) = found.obstacles
        assert obstacle.actor is not None
        assert obstacle.actor.name == "uid 0"

    return check


async def accounting_away(slurm: Polled) -> Check:
    """Without slurmdbd it is not known why a job was put back."""
    job = await _gang(slurm)
    slurm.lab.end("slurmdbd")
    slurm.lab.run("scontrol", "requeue", str(job))
    await slurm.until_seen(job, "PENDING")

    async def check(slurm: Polled, _: Said) -> None:
        ending = await first(slurm, job)
        assert (ending.ended_by, ending.confidence) == (
            "unrecorded",
            "unknown",
        )
        assert "slurmdbd" in ending.missing[0].evidence

    return check


async def set_down(slurm: Polled) -> Check:
    """A person sets a node DOWN: its job ends as by a failure."""
    job = await _gang(slurm)
    slurm.lab.run(
        "scontrol", "update", "nodename=gpu-002", "state=down",
        "reason=pulled cable",
    )  # fmt: skip
    await slurm.until_lost("gpu-002", job)

    async def check(_: Polled, said: Said) -> None:
        assert ended(said, job) == ["NODE_FAIL"]
        down = [act for act in said.acts if act["act"] == "down"]
        assert [(act["by"], act["reason"]) for act in down] == [
            ("root", "pulled cable")
        ]

    return check


async def asked_to_reboot(slurm: Polled) -> Check:
    """Who asked for a reboot is kept when Slurm issues it."""
    job = slurm.lab.submit("-N1", "-n1", "-w", "gpu-002", script="sleep 4")
    await slurm.until_state(job, "RUNNING")
    slurm.lab.run(
        "scontrol", "reboot", "asap", "nextstate=resume",
        "reason=kernel rollout", "gpu-002",
    )  # fmt: skip
    states = slurm.source.state

    def issued() -> bool:
        nodes = slurm.source.state.nodes
        return "REBOOT_ISSUED" in nodes["gpu-002"].states

    assert "gpu-002" in states.nodes
    await slurm.until(issued)

    async def check(_: Polled, said: Said) -> None:
        acts = [act for act in said.acts if "reboot" in act["act"]]
        assert [(act["act"], act["by"]) for act in acts] == [
            ("reboot-asked", "root"),
            ("reboot-issued", "root"),
        ]
        assert ended(said, job) == ["COMPLETED"]

    return check


async def in_parts(slurm: Polled) -> Check:
    """An array and a het job are one workload each."""
    array = slurm.lab.submit(
        "--array=0-2", "-n1", script="exit $SLURM_ARRAY_TASK_ID"
    )
    het = slurm.lab.submit("-N1", "-n1", ":", "-N1", "-n1", script="sleep 2")
    await slurm.until_state(het, "COMPLETED")
    await slurm.until(lambda: not slurm.lab.run("squeue", "-h"))
    await slurm.until_seen(array, "FAILED")

    async def check(slurm: Polled, _: Said) -> None:
        assert (await slurm.why(het)).state == "completed"
        found = await slurm.why(array)
        assert found.state == "failed"
        codes = {
            one.container.exit_code
            for one in found.endings
            if one.container is not None
        }
        assert codes == {1, 2}

    return check


async def timed_out(slurm: Polled) -> Check:
    """A job exceeds its limit; the shortest is a minute."""
    job = await _gang(slurm, "--time=1")
    await slurm.until_state(job, "TIMEOUT")

    async def check(slurm: Polled, said: Said) -> None:
        assert ended(said, job) == ["TIMEOUT"]
        assert (await first(slurm, job)).ended_by == "deadline"

    return check


async def controller_restarted(slurm: Polled) -> Check:
    """slurmctld goes away and comes back: a gap, and no run twice."""
    job = await _gang(slurm)
    slurm.lab.end("slurmctld")
    await slurm.until(lambda: bool(slurm.source.failed))
    slurm.lab.start_controller()
    await slurm.until(lambda: not slurm.source.failed)
    slurm.lab.run("scancel", str(job))
    await slurm.until_seen(job, "CANCELLED")

    async def check(_: Polled, said: Said) -> None:
        assert ended(said, job) == ["CANCELLED"]
        assert len(said.gaps) == 1

    return check


async def state_lost(slurm: Polled) -> Check:
    """slurmctld starts without its state: it uses ids again."""
    old = slurm.lab.submit("-N1", "-n1", "-w", "gpu-001")
    await slurm.until_state(old, "RUNNING")
    slurm.lab.end("slurmctld")
    slurm.lab.lose_state()
    slurm.lab.start_controller()
    await slurm.until(slurm.lab.is_ready)
    # The slurmd of the old job still has one of this id.
    new = slurm.lab.submit("-N1", "-n1", "-w", "gpu-002", script="exit 3")
    assert new == old
    await slurm.until_state(new, "FAILED")

    async def check(slurm: Polled, said: Said) -> None:
        ends = [
            (one.get("epoch", 0), one["state"], len(one["members"]))
            for one in said.runs
            if one.get("ended")
        ]
        assert ends == [(0, "UNKNOWN", 1), (1, "FAILED", 1)]
        assert any("lost its state" in gap for gap in said.gaps)
        (ending,) = (await slurm.why(new)).endings
        assert ending.ended_by == "container-exit"

    return check


async def recorder_away(slurm: Polled) -> Check:
    """The recorder ends and starts: it knows the run that went meanwhile."""
    job = await _gang(slurm)

    def requeue() -> None:
        slurm.lab.run("scontrol", "requeuehold", str(job))
        slurm.lab.wait_for(job, "PENDING")
        time.sleep(3)  # longer than the interval may be

    await slurm.be_away(requeue)
    await slurm.until_seen(job, "PENDING")

    async def check(slurm: Polled, said: Said) -> None:
        assert ended(said, job) == ["REQUEUED"]
        ending = await first(slurm, job)
        assert {*ending.nodes} == {"gpu-001", "gpu-002"}
        assert any("was not polled" in gap for gap in said.gaps)

    return check


async def token_expired(slurm: Polled) -> Check:
    """A token that is no longer valid is a gap until there is a new one."""
    job = await _gang(slurm)
    slurm.lab.token_file.write_text("expired")
    await slurm.until(lambda: bool(slurm.source.failed))
    slurm.lab.write_token()
    await slurm.until(lambda: not slurm.source.failed)

    async def check(_: Polled, said: Said) -> None:
        assert "token" in said.gaps[0]
        assert not ended(said, job)

    return check


STORIES: Final[Mapping[str, tuple[Story, bool]]] = {
    "killed": (killed, False),
    "rebooted": (rebooted, False),
    "preempted": (preempted, False),
    "requeued": (requeued, True),
    "held": (held, False),
    "accounting away": (accounting_away, True),
    "set down": (set_down, False),
    "asked to reboot": (asked_to_reboot, False),
    "timed out": (timed_out, False),
    "in parts": (in_parts, False),
    "controller restarted": (controller_restarted, False),
    "state lost": (state_lost, False),
    "token expired": (token_expired, False),
    "recorder away": (recorder_away, False),
}
"""Each with whether accounting runs."""


async def _said(database: Database) -> Said:
    whole = await read_log(database.dsn("reader"))
    said = Said([], [], [])
    ids: Counter[str] = Counter()
    for _, draft in whole.entries:
        if draft.operation is Operation.GAP_OPENED:
            assert draft.source == SLURM
            said.gaps.append(draft.raw.decode())
        if draft.operation is Operation.CLOUDEVENT:
            event = msgspec.json.decode(draft.raw)
            ids[event["id"]] += 1
            is_run = event["type"] == "slurm.run"
            (said.runs if is_run else said.acts).append(event["data"])
    assert max(ids.values()) == 1
    return said


ROOTS: Final[Mapping[str, Path | None]] = {"22.05": None, **releases()}
"""Where each release is: that of the machine, and others that were made."""


async def said_by(client: SlurmClient, version: int) -> tuple[Any, Any] | None:
    """Return what a version says of jobs and nodes; None if not served."""
    root = f"/slurm/v0.0.{version}"
    try:
        jobs = await client.get(f"{root}/jobs/", dict[str, Any])
        nodes = await client.get(f"{root}/nodes/", dict[str, Any])
    except SlurmError:
        return None
    return (
        [read_job(one) for one in jobs["jobs"]],
        [read_node(one) for one in nodes["nodes"]],
    )


async def versions_say_the_same(root: Path) -> None:
    """One reader reads all versions of the API that a slurmrestd serves."""
    with Laboratory(2, root=root) as lab:
        for script in ("exit 3", "kill -11 $$"):
            job = lab.submit("-N1", "-n1", script=script)
            lab.wait_for(job, "FAILED")
        job = lab.submit("-N2", "-n2", "--exclusive")
        lab.wait_for(job, "RUNNING")
        lab.submit("-n1", "--hold")
        lab.run(
            "scontrol", "update", "nodename=gpu-002", "state=drain",
            "reason=xid79",
        )  # fmt: skip
        async with SlurmClient(
            lab.url, "slurm", lambda: lab.token_file.read_text().strip()
        ) as client:
            answers = [await said_by(client, one) for one in range(40, 50)]
    served = [one for one in answers if one is not None]
    assert len(served) > 2
    jobs, nodes = served[0]
    assert [(job.exit_code, job.signal) for job in jobs[:2]] == [
        *((3, None), (None, 11)),
    ]
    assert [job.held for job in jobs] == [False, False, False, True]
    assert "DRAIN" in nodes[1].states
    for one in served[1:]:
        assert one == (jobs, nodes)


if sampled("slurm", STORIES, 0):

    @pytest.mark.parametrize("release", releases())
    async def test_versions_say_the_same(release: str) -> None:
        await versions_say_the_same(releases()[release])

    @pytest.mark.parametrize("release", ROOTS)
    @pytest.mark.parametrize("name", STORIES)
    async def test_what_happens_in_a_real_slurm(
        database: Database, name: str, release: str
    ) -> None:
        story, accounting = STORIES[name]
        async with polled(
            database, 2, accounting=accounting, root=ROOTS[release]
        ) as slurm:
            check = await story(slurm)
        await check(slurm, await _said(database))
