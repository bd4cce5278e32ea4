"""``python -m tests.survival reach``: what absences leave of the history.

The API server is killed, frozen and started with a cold cache, and the
recorder is away for up to three minutes, while the cluster goes on. Then it
is counted which versions of recorded kinds are in the log. What etcd had
forgotten when the recorder was back, nobody could have read; it is counted
apart.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tests.cluster.comparison import RECORDED
from tests.support.log_rows import log_rows
from tests.support.read_log import WholeLog, read_log
from tests.survival.site import Site, made

__all__ = ["ABSENCES", "WORKLOADS", "Reached", "reach", "settled"]

WORKLOADS = ("kueue.x-k8s.io", "workloads")
EVENT_TTL = timedelta(hours=1)
PATIENCE_SECONDS = 300.0
"""Walks take turns, for up to 40 s each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What became of the versions that an absence left to be read."""

    absence: str
    versions: int
    """Of recorded kinds, heartbeats left out, since the first list."""

    held: int
    forgotten: int
    """Not in the log, and compacted before the recorder was back."""

    missing: Counter[str]
    """Not in the log otherwise, by resource."""


Absence = Callable[[Site], Coroutine[Any, Any, int]]
"""Returns up to which revision history was compacted meanwhile."""


async def killed_often(site: Site) -> int:
    """The API server is killed every ten seconds."""
    for _ in range(4):
        await site.cluster.api_server.kill()
        await site.cluster.api_server.start()
        await asyncio.sleep(10)
    return 0


async def frozen(site: Site) -> int:
    """The API server is frozen for longer than a stream may be silent."""
    site.cluster.api_server.pause()
    await asyncio.sleep(11)
    site.cluster.api_server.resume()
    return 0


async def away_half_a_minute(site: Site) -> int:
    """The recorder is away, and the cache is cold when it returns."""
    return await _away(site, 30, cold=True)


async def away_a_minute_and_a_half(site: Site) -> int:
    """The recorder is away, and the API server goes on."""
    return await _away(site, 90, cold=False)


async def away_three_minutes(site: Site) -> int:
    """The recorder is away, and the cache is cold when it returns."""
    return await _away(site, 180, cold=True)


async def away_and_compacted(site: Site) -> int:
    """Half of an absence of a minute is compacted."""
    await _away(site, 30, cold=False, back=False)
    revision = await site.cluster.oracle.caught_up()
    await site.cluster.etcd_client.compact(revision)
    await _away(site, 30, cold=True)
    return revision


ABSENCES: tuple[Absence, ...] = (
    killed_often,
    frozen,
    away_half_a_minute,
    away_a_minute_and_a_half,
    away_three_minutes,
    away_and_compacted,
)


async def reach(
    seed: int, *, say: Callable[[Reached], None] = lambda _: None
) -> list[Reached]:
    """Let all absences happen to one log; return what each left."""
    found = []
    async with (
        made(seed, shared=True, event_ttl=EVENT_TTL) as site,
        asyncio.TaskGroup() as group,
    ):
        traffic = group.create_task(site.traffic.run())
        site.recorder.start()
        since = await settled(site)
        for absence in ABSENCES:
            site.traffic.go_on()
            await asyncio.sleep(3)
            forgotten = await absence(site)
            await asyncio.sleep(3)
            until = await settled(site)
            log = await read_log(site.database.dsn("reader"))
            found.append(
                _reached(absence.__name__, site, log, since, until, forgotten)
            )
            say(found[-1])
            since = until
        traffic.cancel()
        await site.recorder.stop()
    return found


async def _away(
    site: Site, seconds: float, *, cold: bool, back: bool = True
) -> int:
    site.recorder.kill()
    await asyncio.sleep(seconds)
    if cold:
        await site.cluster.api_server.restart()
    if back:
        site.recorder.start()
    return 0


async def settled(site: Site) -> int:
    """Write nothing until the log has caught up; return up to where."""
    await site.traffic.stop()
    await site.traffic.everything_once()
    return await site.until_caught_up(epoch=1, seconds=PATIENCE_SECONDS)


def _reached(
    absence: str,
    site: Site,
    log: WholeLog,
    since: int,
    until: int,
    forgotten: int,
) -> Reached:
    rows = {
        (row.resource, row.uid, row.revision) for row in log_rows(log.entries)
    }
    wanted = [
        version
        for version in site.cluster.oracle.versions()
        if since < version.revision <= until
        and not version.heartbeat
        and (version.group, version.resource) in {*RECORDED, WORKLOADS}
    ]
    lacking = [
        version
        for version in wanted
        if (version.resource, version.uid, version.revision) not in rows
    ]
    return Reached(
        absence=absence,
        versions=len(wanted),
        held=len(wanted) - len(lacking),
        forgotten=sum(v.revision < forgotten for v in lacking),
        missing=Counter(
            v.resource for v in lacking if v.revision >= forgotten
        ),
    )
