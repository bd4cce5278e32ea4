"""A real Slurm, polled into a log, and what questions answer about it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from recorder.answers.naming import Reference
from recorder.answers.node_questions import WhyWorkloadQuestion
from recorder.answers.why_workload import WhyWorkload, ask_why_workload
from recorder.explain.knowledge import shipped
from recorder.intake.recording import Recording
from recorder.intake.redact import Redaction, RedactionRules
from recorder.model.observation import SLURM
from recorder.model.window import Window
from recorder.sources.slurm import NodeMapping, SlurmClient, SlurmSource
from recorder.store.writer import LogSpec, Writer
from tests.cluster.waiting import until
from tests.corpus.logs import reading_of
from tests.slurm.laboratory import CLUSTER, Laboratory
from tests.support.postgres import Database

__all__ = ["Polled", "polled"]

SPEC = LogSpec(
    cluster_name="prod",
    cluster_uid="11111111-prod",
    kubernetes="v1.36.3",
    redaction_key_id=None,
)


class Polled:
    """A laboratory that is polled into a database."""

    def __init__(self, lab: Laboratory, database: Database) -> None:
        self.lab = lab
        self._database = database
        self.source: SlurmSource
        self._stop = asyncio.Event()
        self._meanwhile: Callable[[], None] | None = None

    @asynccontextmanager
    async def recorded(self) -> AsyncIterator[None]:
        """Poll four times a second while entered."""
        self.source = self._new_source()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._record())
            try:
                yield
            finally:
                self._stop.set()

    async def be_away(self, meanwhile: Callable[[], None]) -> None:
        """Stop recording, let something happen, and record again."""
        before, self._meanwhile = self.source, meanwhile
        self._stop.set()
        await self.until(
            lambda: self.source is not before and self.source.state.at > 0
        )

    async def _record(self) -> None:
        while True:
            recording = Recording(
                Writer(self._database.dsn("writer"), SPEC, holder="slurm"),
                Redaction(RedactionRules(), b"0" * 32),
            )
            await recording.run({SLURM: self.source}, self._stop)
            if self._meanwhile is None:
                return
            await asyncio.to_thread(self._meanwhile)
            self._meanwhile = None
            self._stop = asyncio.Event()
            self.source = self._new_source()

    def _new_source(self) -> SlurmSource:
        client = SlurmClient(
            self.lab.url,
            "slurm",
            lambda: self.lab.token_file.read_text().strip(),
        )
        return SlurmSource(
            client,
            NodeMapping(same_names=True),
            cluster=CLUSTER,
            interval=0.25,
            log=self.lab.log,
        )

    async def why(self, job: int) -> WhyWorkload:
        """Ask why a job ended."""
        async with reading_of(self._database.dsn("reader"), 1) as reading:
            return await ask_why_workload(
                reading,
                WhyWorkloadQuestion(
                    object=Reference.parse(f"slurmjob/{CLUSTER}/{job}"),
                    at=None,
                    window=Window(),
                ),
                shipped(),
                now=datetime.now(UTC),
            )

    async def until_state(self, job: int, *states: str) -> None:
        """Wait until a job is in a state by Slurm, and that is polled."""
        await self.until(lambda: self.lab.state_of(job) in states)
        await self.until_seen(job, *states)

    async def until_seen(self, job: int, *states: str) -> None:
        """Wait until a poll has seen a job in a state."""

        def seen() -> bool:
            run = self.source.state.runs.get(job)
            return run is not None and run.state in states

        await self.until(seen)

    async def until_lost(self, node: str, job: int) -> None:
        """Wait until polls have seen a node DOWN, and its job put back.

        A poll asks for the nodes first: what it sees of the job may be newer.
        """

        def down() -> bool:
            return "DOWN" in self.source.state.nodes[node].states

        await self.until_seen(job, "PENDING")
        await self.until(down)

    async def until(self, ready: Callable[[], bool]) -> None:
        """Wait until something is so, while polls go on."""

        async def asked() -> bool:
            return await asyncio.to_thread(ready)

        await until(asked, "Slurm is there", seconds=120)


@asynccontextmanager
async def polled(
    database: Database,
    nodes: int,
    *,
    accounting: bool = False,
    root: Path | None = None,
) -> AsyncIterator[Polled]:
    """Start a laboratory, and poll it into a database."""
    with Laboratory(nodes, accounting=accounting, root=root) as lab:
        found = Polled(lab, database)
        async with found.recorded():
            yield found
