"""An hour of changes, for what grows slowly.

A fleet that changes 300 times a second makes 1,080,000 changes in an hour.
They are made as fast as the API server takes them, unless ``--rate`` says
otherwise: what grows with changes is then seen in a fraction of the time.
What grows with time alone, as a stream's renewals do, is seen for as long as
the run takes; lists for reconciling are made every few minutes instead of
every hour, so that some fall into it. Half of the changes are Events, and
none of those expires meanwhile.
"""

from collections import Counter
from typing import Any

from bench import writing
from bench.live import LIVE, SIZE
from bench.measuring import say, server_folder
from bench.sampling import Answers, Recorder, sampled, started, table
from recorder.model.entry import Operation
from recorder.store.codes import OPERATION_CODES
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.waiting import until

__all__ = ["CHANGES", "hour"]

CHANGES = 300 * 3600
SAMPLES = 60
EVERY_MIN, EVERY_MAX = 5.0, 30.0
RATE_GUESSED = 1_000.0
RECONCILE_EVERY = "5m"

OPTIONS = Options(
    controller_manager=False,
    scheduler=False,
    json_storage=False,
    etcd_flags={"quota-backend-bytes": str(8 << 30)},
)
VERSIONS = """
    select version from recorder.entry
    where log_id = 1 and position > $1 and operation = any($2::int2[])
"""
GAPS = """
    select count(*) from recorder.entry where log_id = 1 and operation = $1
"""


class _Remembered(Answers):
    """Also remembers every version that was answered."""

    def __init__(self) -> None:
        super().__init__()
        self.versions: list[int] = []

    def note(self, resource: str, version: int) -> None:
        super().note(resource, version)
        self.versions.append(version)


async def hour(changes: int, rate: float) -> dict[str, Any]:
    """Run it; return the table, and what is missing or too much."""
    answers = _Remembered()
    expected = changes / (rate or RATE_GUESSED)
    every = min(EVERY_MAX, max(EVERY_MIN, expected / SAMPLES))
    with server_folder() as data, server_folder() as folder:
        async with (
            Cluster.start(folder / "cluster", OPTIONS) as cluster,
            started(
                cluster, data, reconcile_every=RECONCILE_EVERY
            ) as recorder,
        ):
            await writing.prepare(cluster.api)
            await until(
                lambda: recorder.connection.fetchval(LIVE),
                "every stream is live",
                seconds=60,
            )
            size = await recorder.connection.fetchval(SIZE)
            async with sampled(
                cluster, recorder, answers, every=every
            ) as series:
                series.phase = "hour"
                await writing.write(
                    cluster.kubeconfig,
                    changes,
                    rate=rate,
                    prefix="hour",
                    on_answer=answers.note,
                )
                series.phase = "after"
                found = await _compared(recorder, answers.versions, size)
    return {**found, **table(series.samples)}


async def _compared(
    recorder: Recorder, versions: list[int], size: int
) -> dict[str, Any]:
    async def complete() -> bool:
        there: int = await recorder.connection.fetchval(SIZE)
        return there - size >= len(versions)

    await until(complete, "all is committed", seconds=120, every=0.05)
    codes = [
        OPERATION_CODES[operation]
        for operation in (Operation.ADDED, Operation.MODIFIED)
    ]
    rows = await recorder.connection.fetch(VERSIONS, size, codes)
    there = Counter(row["version"] for row in rows)
    there.subtract(versions)
    gaps = await recorder.connection.fetchval(
        GAPS, OPERATION_CODES[Operation.GAP_OPENED]
    )
    found = {
        "changes": len(versions),
        "missing": sum(count < 0 for count in there.values()),
        "too_much": sum(count > 0 for count in there.values()),
        "gaps": gaps,
    }
    say(str(found))
    return found
