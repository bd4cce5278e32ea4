"""Makes the tape of `recorder demo`: ``python -m tests.corpus.demo``.

Ten GPU nodes in two racks. A GPU of gpu-002 falls off the bus: its
node-problem-detector says so, and a controller cordons the node, evicts its
Pods, reboots it and takes it back; the JobSet that trained there begins again
on other nodes. Later the machine of gpu-007 dies without a word, with a
Pod of a service, and comes back. The API server, the controllers of
Kubernetes, JobSet, the kubelets and node-problem-detector are their makers';
the controller that repairs is our own (`remediation`).

The recorder records all of it, with the audit log, and cuts the tape.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import yaml

from recorder.sources.tape import demo
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.waiting import until
from tests.corpus.acting import acting
from tests.corpus.detector import CONDITION, Detector
from tests.corpus.identities import machines
from tests.corpus.incidents.gangs import JOBSETS, jobset_controller, the_jobset
from tests.corpus.lifecycle import LIFECYCLE
from tests.corpus.placing import the_deployment
from tests.corpus.remediation import remediating
from tests.corpus.stage import Stage

__all__ = ["make"]

NODES, TRAINING, SERVING = 10, 6, 2

REPAIRED, CRASHED = "gpu-002", "gpu-007"

OFF_SECONDS = 22
"""Above the grace period: the node goes Unknown."""

DOWN_SECONDS = 35

PROVEN_SECONDS = 90
"""Quiet streams prove themselves by bookmarks, about one a minute."""

XID = (
    "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, "
    "GPU has fallen off the bus."
)

TAPE = Path(demo.__file__).parent / "demo.tape.jsonl.zst"

POLICY = Path(__file__).parents[2] / "deploy/audit-policy.yaml"


class Fleet:
    """The machines of the demo, each with its detector."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.detectors: dict[str, Detector] = {}

    async def start(self, node: str) -> None:
        """Start the detector of a machine that runs."""
        self.detectors[node] = Detector(self._stage, node)
        await self.detectors[node].start()

    async def lose_power(self, node: str, seconds: float) -> None:
        """Let a machine stop where it is, and boot after a while."""
        machine = self._stage.machine(node)
        self.detectors[node].kill()
        await machine.crash()
        machine.set_healthy_gpus(machine.spec.gpus)
        await asyncio.sleep(seconds)
        await machine.boot()
        await self.detectors[node].start()


async def make(tape: Path) -> None:
    """Let it happen, and record it."""
    specs = machines("demo", NODES, racks=2)
    policy = yaml.safe_load(POLICY.read_text())
    options = Options(
        machines=specs[:TRAINING], json_storage=False, audit_policy=policy
    )
    with _folder() as folder:
        async with Cluster.start(folder / "cluster", options) as cluster:
            stage = Stage("demo", "the demo", cluster, folder)
            fleet = Fleet(stage)
            try:
                async with jobset_controller(stage):
                    # Each fills what is there when it comes.
                    await the_jobset(
                        stage,
                        "llm-pretrain",
                        jobs=1,
                        pods=TRAINING,
                        restarts=9,
                    )
                    for spec in specs[TRAINING : TRAINING + SERVING]:
                        await cluster.add_machine(spec)
                    await the_deployment(stage.api, "chat", SERVING)
                    for spec in specs[TRAINING + SERVING :]:
                        await cluster.add_machine(spec)
                    for spec in specs:
                        await fleet.start(spec.name)
                    await _record(stage, fleet, tape)
            finally:
                for detector in fleet.detectors.values():
                    detector.kill()


async def _record(stage: Stage, fleet: Fleet, tape: Path) -> None:
    await until(
        lambda: _all_say(stage, "False"), "each detector has said how it is"
    )
    log = stage.cluster.audit_log
    await stage.start_recorder(JOBSETS, audit_logs=str(log))
    await stage.pause(8)
    begins = datetime.now(UTC)
    await stage.pause(4)

    async def cycle(node: str) -> None:
        await fleet.lose_power(node, OFF_SECONDS)

    async with (
        acting(stage, LIFECYCLE) as controller,
        asyncio.TaskGroup() as group,
    ):
        loop = group.create_task(
            remediating(stage, controller, CONDITION, cycle)
        )
        await _story(stage, fleet)
        loop.cancel()
    await stage.pause(4)
    ends = datetime.now(UTC)
    await stage.pause(PROVEN_SECONDS)
    await stage.stop_recorder()
    await _cut(stage.folder / "data", tape, begins, ends)


async def _story(stage: Stage, fleet: Fleet) -> None:
    stage.machine(REPAIRED).set_healthy_gpus(7)
    fleet.detectors[REPAIRED].kernel_logs(XID)

    async def cordoned() -> bool:
        node = await stage.node(REPAIRED)
        return bool(node["spec"].get("unschedulable"))

    async def uncordoned() -> bool:
        return not await cordoned()

    await until(cordoned, f"{REPAIRED} is cordoned", seconds=60)
    await until(uncordoned, f"{REPAIRED} is taken back", seconds=180)
    await stage.pause(25)
    await fleet.lose_power(CRASHED, DOWN_SECONDS)
    await stage.ready(CRASHED)
    await stage.pause(20)


async def _all_say(stage: Stage, status: str) -> bool:
    listed = await stage.api.get("/api/v1/nodes")
    return all(
        any(
            condition["type"] == CONDITION and condition["status"] == status
            for condition in node["status"]["conditions"]
        )
        for node in listed["items"]
    )


async def _cut(
    data: Path, tape: Path, begins: datetime, ends: datetime
) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "recorder", "tape", "cut", str(tape), "--force",
        "--since", begins.isoformat(), "--until", ends.isoformat(),
        env={**os.environ, "RECORDER_DATA_DIR": str(data)},
    )  # fmt: skip
    status = await process.wait()
    assert status == 0, f"the tape is not whole: {status}"


@contextmanager
def _folder() -> Iterator[Path]:
    """Yield a folder that PostgreSQL's own user may enter."""
    with tempfile.TemporaryDirectory(prefix="recorder-demo-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


if __name__ == "__main__":
    asyncio.run(make(TAPE))
