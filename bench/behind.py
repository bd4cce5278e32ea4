"""How far behind the log is when a burst ends.

Sixteen clients write as fast as the API server answers; the delay is the time
from the last answer that one of them got to the commit of the last row.
"""

import asyncio

from bench.live import Written, live_cluster
from bench.measuring import Number, say

__all__ = ["bench"]

CHANGES = 8_000
WARM_UP = 1_000


def bench(runs: int) -> list[Number]:
    bursts = asyncio.run(_bursts(runs))
    return [
        Number(
            name=f"behind after {CHANGES:,} changes at full speed",
            unit="s",
            values=[burst.delay for burst in bursts],
            target="<= 1",
        ),
        Number(
            name="  changes while they last",
            unit="1/s",
            values=[burst.changes / burst.seconds for burst in bursts],
        ),
    ]


async def _bursts(runs: int) -> list[Written]:
    bursts = []
    async with live_cluster() as live:
        await live.write(WARM_UP)
        for _ in range(runs):
            burst = await live.write(CHANGES)
            await live.check(burst)
            rate = burst.changes / burst.seconds
            say(f"  {rate:,.0f} changes/s, behind {burst.delay:.3f} s")
            bursts.append(burst)
    return bursts
