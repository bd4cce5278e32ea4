"""The cost of recording, relative to that of the API server itself.

Processor time of the recorder and of its PostgreSQL for a thousand changes,
and of the kube-apiserver for the same thousand, in the same seconds: a ratio
that holds on any machine. The API server stores as it does by default, and its
own time includes serving our watches.
"""

import asyncio
from dataclasses import dataclass

from bench.live import Live, live_cluster
from bench.measuring import (
    Number,
    cpu_seconds,
    postgres_cpu_seconds,
    say,
)

__all__ = ["bench"]

WARM_UP = 1_000
CHANGES = 8_000
RATES = {"as fast as 16 clients go": 0.0, "at 500 changes/s": 500.0}
SETTLE_SECONDS = 1.0
"""After the last row, so that what PostgreSQL puts off is counted too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Seconds of processor time for a thousand changes."""

    api_server: float
    recorder: float
    postgres: float
    rate: float
    """Changes a second."""

    @property
    def ratio(self) -> float:
        return (self.recorder + self.postgres) / self.api_server


def bench(runs: int) -> list[Number]:
    spent = asyncio.run(_measured(runs))
    numbers = []
    for name, loads in spent.items():
        numbers.append(
            Number(
                name=f"processor time by the API server's, {name}",
                unit="ratio",
                values=[load.ratio for load in loads],
                target="<= 0.2",
            )
        )
        numbers.extend(
            Number(name=f"  {part}", unit=unit, values=values)
            for part, unit, values in (
                ("kube-apiserver", "ms/1,000", [s.api_server for s in loads]),
                ("recorder", "ms/1,000", [s.recorder for s in loads]),
                ("its PostgreSQL", "ms/1,000", [s.postgres for s in loads]),
                ("changes", "1/s", [s.rate for s in loads]),
            )
        )
    return numbers


async def _measured(runs: int) -> dict[str, list[Spent]]:
    spent: dict[str, list[Spent]] = {name: [] for name in RATES}
    async with live_cluster() as live:
        await live.write(WARM_UP)
        for _ in range(runs):
            for name, rate in RATES.items():
                load = await _load(live, rate)
                say(
                    f"  {name}: {load.ratio:.3f}, API server"
                    f" {load.api_server:,.0f} ms/1,000"
                )
                spent[name].append(load)
    return spent


async def _load(live: Live, rate: float) -> Spent:
    before = _seconds(live)
    written = await live.write(CHANGES, rate=rate)
    await asyncio.sleep(SETTLE_SECONDS)
    api_server, recorder, postgres = (
        (after - then) * 1e6 / CHANGES
        for after, then in zip(_seconds(live), before, strict=True)
    )
    await live.check(written)
    return Spent(
        api_server=api_server,
        recorder=recorder,
        postgres=postgres,
        rate=written.changes / written.seconds,
    )


def _seconds(live: Live) -> tuple[float, float, float]:
    server = live.cluster.api_server.pid
    assert server is not None, "the API server runs"
    return (
        cpu_seconds(server),
        cpu_seconds(live.recorder),
        postgres_cpu_seconds(live.data),
    )
