"""``python -m tests.survival reach --flapping``: an API server that flaps.

The API server and the recorder are killed every four seconds for a minute and
a half, while the cluster goes on. Then it is counted what share of the
versions lies in gaps that the log reports, and when each resource was live
again; what is missing and reported nowhere, and what is there twice, is wrong.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from tests.cluster.comparison import RECORDED, GapSpan, Version
from tests.support.log_rows import gap_spans, log_rows
from tests.support.read_log import WholeLog, read_log
from tests.survival.progress import Point
from tests.survival.reach import WORKLOADS, settled
from tests.survival.site import UNREADABLE, Site, made

__all__ = ["Counted", "Flapped", "flap"]

EVERY_SECONDS = 4.0
KILLED_SECONDS = 90.0
COUNTED_AFTER = (10, 60, 120)
EVENT_TTL = timedelta(hours=1)

Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What the log held at a moment after the last kill."""

    after: float
    """Seconds since the API server answered again."""

    versions: int
    """Of recorded kinds since the first kill, heartbeats left out."""

    reported: int
    """Of those, in gaps that the log reports."""

    missing: int
    """Of those, not in the log."""

    unreported: int
    """Missing, behind what is vouched for, and in no gap."""

    doubled: int
    behind: Mapping[str, str]
    """Resources that are not live, with their states."""

    load: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Flapped:
    """What came of it."""

    kills: int
    live: Mapping[str, float]
    """Seconds after which each resource was live, that ever was."""

    listed: float
    """Seconds that one plain list of all resources takes, at the end."""

    server_seconds: float
    """Of processor time that all API servers took."""


async def flap(
    seed: int,
    *,
    reach_back: str | None,
    counted: Callable[[Counted], None],
) -> Flapped:
    """Kill both, again and again; tell what is in the log afterwards."""
    async with (
        made(seed, shared=False, event_ttl=EVENT_TTL) as site,
        asyncio.TaskGroup() as group,
    ):
        if reach_back is not None:
            site.recorder.settings["RECORDER_REACH_BACK"] = reach_back
        traffic = group.create_task(site.traffic.run())
        site.recorder.start()
        since = await settled(site)
        site.traffic.go_on()
        await asyncio.sleep(3)
        used = _processor_seconds(site)
        kills, spent = await _killed(site)
        spent -= used
        began = asyncio.get_running_loop().time()
        live: dict[str, float] = {}
        watching = group.create_task(_watch(site, began, live))
        for after in COUNTED_AFTER:
            now = asyncio.get_running_loop().time()
            await asyncio.sleep(max(0.0, began + after - now))
            counted(await _count(site, since, began))
        watching.cancel()
        spent += _processor_seconds(site)
        traffic.cancel()
        listed = await _listed(site)
        await site.recorder.stop()
    return Flapped(kills=kills, live=live, listed=listed, server_seconds=spent)


async def _killed(site: Site) -> tuple[int, float]:
    """Return how often both were killed, and what servers had used."""
    clock = asyncio.get_running_loop().time
    ends, kills, spent = clock() + KILLED_SECONDS, 0, 0.0
    while clock() < ends:
        began = clock()
        spent += _processor_seconds(site)
        site.recorder.kill()
        await site.cluster.api_server.kill()
        site.recorder.start()
        await site.cluster.api_server.start()
        kills += 1
        await asyncio.sleep(max(0.0, began + EVERY_SECONDS - clock()))
    return kills, spent


def _processor_seconds(site: Site) -> float:
    """Return what the API server that runs has used."""
    pid = site.cluster.api_server.pid
    if pid is None:
        return 0.0
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _watch(site: Site, began: float, live: dict[str, float]) -> None:
    """Note when each resource is live after the last kill."""
    since = site.clock.now()
    while True:
        try:
            points = await site.points()
        except UNREADABLE:
            points = {}
        now = asyncio.get_running_loop().time() - began
        for name, point in points.items():
            if _is_live(point) and (point.vouched_until or since) > since:
                live.setdefault(name, now)
        await asyncio.sleep(0.2)


def _is_live(point: Point) -> bool:
    return point.state == "live"


async def _listed(site: Site) -> float:
    """Return how long one list of every recorded resource takes."""
    began = asyncio.get_running_loop().time()
    for group, plural in sorted({*RECORDED, WORKLOADS}):
        version = "v1beta1" if (group, plural) == WORKLOADS else "v1"
        root = f"/apis/{group}/{version}" if group else f"/api/{version}"
        await site.cluster.api.get(f"{root}/{plural}")
    return asyncio.get_running_loop().time() - began


async def _count(site: Site, since: int, began: float) -> Counted:
    after = asyncio.get_running_loop().time() - began
    points = await site.points()
    log = await read_log(site.database.dsn("reader"))
    until = max(point.pending for point in points.values())
    await site.cluster.oracle.caught_up()
    wanted = [
        version
        for version in site.cluster.oracle.versions()
        if since < version.revision <= until
        and not version.heartbeat
        and (version.group, version.resource) in {*RECORDED, WORKLOADS}
    ]
    rows = Counter(
        (row.resource, row.uid, row.revision)
        for row in log_rows(log.entries)
        if row.revision is not None
    )
    missing = [v for v in wanted if _key(v) not in rows]
    spans = _unhealed(log)
    reported = [v for v in wanted if _lies(v, spans)]
    return Counted(
        after=after,
        versions=len(wanted),
        reported=len(reported),
        missing=len(missing),
        unreported=sum(
            not _lies(v, spans) and _is_vouched(v, points) for v in missing
        ),
        doubled=sum(count > 1 for count in rows.values()),
        behind={
            name: point.state
            for name, point in points.items()
            if not _is_live(point)
        },
        load=os.getloadavg()[0],
    )


def _key(version: Version) -> Key:
    return version.resource, version.uid, version.revision


def _unhealed(log: WholeLog) -> list[GapSpan]:
    """Return the gaps of a log, open ones too, that are not healed."""
    spans = gap_spans(log.entries, log.recovered.streams)
    for (_, name), point in log.recovered.streams.items():
        if point.gap is not None and point.gap.resource_version is not None:
            parts = name.split("/")
            spans.append(
                GapSpan(
                    epoch=1,
                    group=parts[0] if len(parts) > 2 else "",
                    resource=parts[-1],
                    after=int(point.gap.resource_version),
                )
            )
    return [span for span in spans if not span.healed]


def _lies(version: Version, spans: Iterable[GapSpan]) -> bool:
    return any(
        (span.group, span.resource) == (version.group, version.resource)
        and span.holds(version.revision)
        for span in spans
    )


def _is_vouched(version: Version, points: Mapping[str, Point]) -> bool:
    """Return whether a later version of its resource was entered."""
    return any(
        name.split("/")[-1] == version.resource
        and point.pending > version.revision
        for name, point in points.items()
    )
