"""What absences leave of the history, counted on a real cluster.

`reach`: the API server is killed, frozen and started with a cold cache, and
the recorder is away for up to three minutes, while the cluster goes on. Then
it is counted which versions of recorded kinds are in the log. What etcd had
forgotten when the recorder was back, nothing could have read; it is counted
apart.

`flap`: API server and recorder are killed every four seconds for a minute and
a half. Then it is counted what share of the versions lies in gaps that the
log reports, and when each resource was live again; what is missing and
reported nowhere, and what is there twice, is wrong.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.cluster.comparison import RECORDED, GapSpan, Version
from tests.support.log_rows import gap_spans, log_rows
from tests.support.read_log import WholeLog, read_log
from tests.survival.database import Point
from tests.survival.site import UNREADABLE, Site, made

__all__ = ["flap", "reach"]

WORKLOADS = ("kueue.x-k8s.io", "workloads")
EVENT_TTL = timedelta(hours=1)
PATIENCE_SECONDS = 300.0
"""Walks take turns, for up to 40 s each."""

EVERY_SECONDS = 4.0
KILLED_SECONDS = 90.0
COUNTED_AFTER = (10, 60, 120)

Say = Callable[[str], None]
Key = tuple[str, str, int]
Absence = Callable[[Site], Coroutine[Any, Any, int]]
"""Returns up to which revision history was compacted meanwhile."""


async def killed_often(site: Site) -> int:
    """The API server is killed every ten seconds."""
    for _ in range(4):
        await site.cluster.api_server.restart()
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
    """The recorder is away, and the API server continues."""
    return await _away(site, 90, cold=False)


async def away_three_minutes(site: Site) -> int:
    """The recorder is away, and the cache is cold when it returns."""
    return await _away(site, 180, cold=True)


async def away_and_compacted(site: Site) -> int:
    """Half of an absence of a minute is compacted."""
    site.recorder.kill()
    await asyncio.sleep(30)
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


async def reach(seed: int, *, say: Say) -> None:
    """Let all absences happen to one log; say what each left."""
    async with (
        made(seed, shared=True, event_ttl=EVENT_TTL) as site,
        site.written_to(),
    ):
        site.recorder.start()
        since = await site.settled(seconds=PATIENCE_SECONDS)
        for absence in ABSENCES:
            site.traffic.go_on()
            await asyncio.sleep(3)
            forgotten = await absence(site)
            await asyncio.sleep(3)
            until = await site.settled(seconds=PATIENCE_SECONDS)
            log = await read_log(site.database.dsn("reader"))
            wanted = _wanted(site, since, until)
            rows = _rows(log)
            lacking = [
                version for version in wanted if _key(version) not in rows
            ]
            missing = Counter(
                v.resource for v in lacking if v.revision >= forgotten
            )
            held = len(wanted) - len(lacking)
            say(
                f"{absence.__name__}: {_share(held, wanted)} of {len(wanted)}"
                f" versions, {len(lacking) - missing.total()} forgotten,"
                f" missing: {dict(missing)}"
            )
            since = until
        await site.recorder.stop()


async def _away(site: Site, seconds: float, *, cold: bool) -> int:
    site.recorder.kill()
    await asyncio.sleep(seconds)
    if cold:
        await site.cluster.api_server.restart()
    site.recorder.start()
    return 0


async def flap(seed: int, reach_back: str | None, *, say: Say) -> int:
    """Kill both repeatedly; print what is in the log afterwards.

    Returns 1 if anything is missing unreported, or there twice.
    """
    clock = asyncio.get_running_loop().time
    wrong = 0
    async with (
        made(seed, shared=False, event_ttl=EVENT_TTL) as site,
        site.written_to(),
        asyncio.TaskGroup() as group,
    ):
        if reach_back is not None:
            site.recorder.settings["RECORDER_REACH_BACK"] = reach_back
        site.recorder.start()
        since = await site.settled(seconds=PATIENCE_SECONDS)
        site.traffic.go_on()
        await asyncio.sleep(3)
        spent = -_processor_seconds(site)
        kills, used = await _killed(site)
        began = clock()
        live: dict[str, float] = {}
        watching = group.create_task(_watch(site, began, live))
        for after in COUNTED_AFTER:
            await asyncio.sleep(max(0.0, began + after - clock()))
            wrong += await _count(site, since, clock() - began, say)
        watching.cancel()
        spent += used + _processor_seconds(site)
        await site.traffic.stop()
        listed = await _listed(site)
        await site.recorder.stop()
    slowest = dict(sorted(live.items(), key=lambda pair: -pair[1]))
    say(
        f"{kills} kills; live after {slowest} s; one list of each takes"
        f" {listed:.2f} s; API servers used {spent:.1f} s"
    )
    return 1 if wrong else 0


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


async def _listed(site: Site) -> float:
    """Return how long one list of every recorded resource takes."""
    began = asyncio.get_running_loop().time()
    for group, plural in sorted({*RECORDED, WORKLOADS}):
        version = "v1beta1" if (group, plural) == WORKLOADS else "v1"
        root = f"/apis/{group}/{version}" if group else f"/api/{version}"
        await site.cluster.api.get(f"{root}/{plural}")
    return asyncio.get_running_loop().time() - began


async def _count(site: Site, since: int, after: float, say: Say) -> int:
    """Print the state of the log; return the number of its errors."""
    points = await site.points()
    log = await read_log(site.database.dsn("reader"))
    await site.cluster.oracle.caught_up()
    wanted = _wanted(site, since, max(p.pending for p in points.values()))
    rows, spans = _rows(log), _unhealed(log)
    missing = [v for v in wanted if _key(v) not in rows]
    unreported = sum(
        not _lies(v, spans) and _is_vouched(v, points) for v in missing
    )
    doubled = sum(count > 1 for count in rows.values())
    reported = sum(_lies(v, spans) for v in wanted)
    behind = {n: p.state for n, p in points.items() if not _is_live(p)}
    say(
        f"{after:.0f} s after the last kill: {_share(reported, wanted)} of"
        f" {len(wanted)} versions in reported gaps, {len(missing)} missing,"
        f" {unreported} unreported, {doubled} doubled, not live: {behind},"
        f" load {os.getloadavg()[0]:.1f}"
    )
    return unreported + doubled


def _wanted(site: Site, since: int, until: int) -> list[Version]:
    """Return the versions of recorded kinds, heartbeats left out."""
    return [
        version
        for version in site.cluster.oracle.versions()
        if since < version.revision <= until
        and not version.heartbeat
        and (version.group, version.resource) in {*RECORDED, WORKLOADS}
    ]


def _rows(log: WholeLog) -> Counter[Key]:
    return Counter(
        (row.resource, row.uid, row.revision)
        for row in log_rows(log.entries)
        if row.revision is not None
    )


def _key(version: Version) -> Key:
    return version.resource, version.uid, version.revision


def _share(part: int, of: list[Version]) -> str:
    return f"{100 * part / max(1, len(of)):.2f} %"


def _is_live(point: Point) -> bool:
    return point.state == "live"


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
