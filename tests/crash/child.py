"""The process that records and dies: the product, under failpoints."""

import asyncio
import json
import random
import signal
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

from recorder.intake.committing import Policy
from recorder.intake.recording import Recording
from recorder.intake.redact import Redaction, RedactionRules
from recorder.model.observation import WATCH
from recorder.sources.watch import ClusterClient, WatchSource
from recorder.store.writer import LogSpec, Writer
from tests.crash.failpoints import Failpoints, Kill
from tests.crash.script import SCRIPT, Script
from tests.crash.statements import StatementLoop, watch_statements
from tests.crash.stepping import step_factory
from tests.watch.watching import FAST

__all__ = ["HOLDER", "Job", "record"]

HOLDER = "the one that is killed"
"""The same in each life: the one before surely is dead."""

POLICY = Policy(
    linger=timedelta(milliseconds=5),
    idle=timedelta(milliseconds=50),
    retry_min=timedelta(milliseconds=5),
    retry_max=timedelta(milliseconds=20),
    batch_entries=8,
    batches_ahead=1,
)
REDACTION = Redaction(RedactionRules(), b"0" * 32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One life of a recorder."""

    source: Literal["watch", "script"]
    dsn: str
    cluster_uid: str
    kubeconfig: str
    passed: str
    """A file with what was passed, if the life ends well."""

    kill: Kill | None
    steps: bool = True
    """Whether the steps of the event loop are failpoints too."""

    def written(self) -> str:
        """Return the job as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, line: str) -> "Job":
        """Read a job from its line."""
        fields = json.loads(line)
        kill = fields.pop("kill")
        return cls(**fields, kill=None if kill is None else Kill(**kill))


def record(job: Job) -> None:
    """Live one life, until SIGTERM or the end of the script."""
    failpoints = Failpoints(job.kill)
    watch_statements(failpoints)
    with asyncio.Runner(
        loop_factory=lambda: StatementLoop(failpoints)
    ) as runner:
        if job.steps:
            runner.get_loop().set_task_factory(step_factory(failpoints))
        runner.run(_live(job))
    Path(job.passed).write_text(json.dumps(failpoints.passed))


async def _live(job: Job) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    spec = LogSpec(
        cluster_name="fake",
        cluster_uid=job.cluster_uid,
        kubernetes="v1.36.3",
        redaction_key_id="key",
    )
    recording = Recording(
        Writer(job.dsn, spec, holder=HOLDER), REDACTION, policy=POLICY
    )
    try:
        await _record(job, recording, stop)
    finally:
        # A second stop must not kill what ends already.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


async def _record(job: Job, recording: Recording, stop: asyncio.Event) -> None:
    if job.source == "script":
        await recording.run({SCRIPT: Script()}, stop)
        return
    client = ClusterClient.from_kubeconfig(job.kubeconfig, settings=FAST)

    watch = WatchSource(
        client,
        cluster_uid=job.cluster_uid,
        redact=lambda raw, name: REDACTION.document(raw, resource=name),
        jitter=random.Random(0),
    )
    try:
        await recording.run({WATCH: watch}, stop)
    finally:
        await client.close()
