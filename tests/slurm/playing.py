"""Logs of stories about Slurm, side by side in one database."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import count
from typing import Any

import msgspec

from recorder.answers.naming import Reference
from recorder.answers.node_questions import WhyWorkloadQuestion
from recorder.answers.ports import Reading
from recorder.answers.why_workload import WhyWorkload, ask_why_workload
from recorder.explain.knowledge import shipped
from recorder.facts.classify.claims import claim_key
from recorder.model.observation import SLURM, CloudEventPosted, Observation
from recorder.model.window import Window
from recorder.store.writer import LogSpec
from tests.corpus.logs import reading_of
from tests.support.fixed_log import write_log
from tests.support.postgres import Database

__all__ = ["Logs", "claimed", "why_job"]


class Logs:
    """Logs in one database, each of a cluster of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._numbers = count(1)

    async def write(self, *batches: Sequence[Observation]) -> int:
        """Write a story into a new log; return its number."""
        name = f"c{next(self._numbers)}"
        spec = LogSpec(
            cluster_name=name,
            cluster_uid=name,
            kubernetes="v1.36.3",
            redaction_key_id=None,
        )
        return await write_log(
            self._database.dsn("writer"), batches, spec=spec, with_facts=True
        )

    @asynccontextmanager
    async def reading(self, log: int) -> AsyncIterator[Reading]:
        """Open a log."""
        async with reading_of(self._database.dsn("reader"), log) as found:
            yield found

    @asynccontextmanager
    async def recorded(
        self, *batches: Sequence[Observation]
    ) -> AsyncIterator[Reading]:
        """Write a story into a new log, and open it."""
        async with self.reading(await self.write(*batches)) as found:
            yield found


def claimed(found: Sequence[tuple[int, dict[str, Any]]]) -> list[Observation]:
    """Return claims as the poller records them."""
    return [
        CloudEventPosted(
            observed_at=datetime.fromtimestamp(at, UTC),
            event=msgspec.json.encode({"specversion": "1.0", **event}),
            source=SLURM,
            key=claim_key(event["source"], event["id"]),
        )
        for at, event in found
    ]


async def why_job(reading: Reading, job: int, now: datetime) -> WhyWorkload:
    """Ask why a job of the Slurm cluster "lab" ended."""
    return await ask_why_workload(
        reading,
        WhyWorkloadQuestion(
            object=Reference.parse(f"slurmjob/lab/{job}"),
            at=None,
            window=Window(),
        ),
        shipped(),
        now=now,
    )
