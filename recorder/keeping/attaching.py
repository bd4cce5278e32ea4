"""Attaching an archive: its logs become logs of this database, to be read."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recorder.archive.listing import ListedDay, ListedLog, list_archive
from recorder.archive.place import open_place
from recorder.store.attaching import attach_log


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """A log that can be read now."""

    log: int
    cluster: str
    days: int
    first: str
    last: str
    entries: int


async def attach(dsn: str, uri: str) -> list[Attached]:
    """Attach all logs of an archive.

    Raises:
        RecorderError: it cannot be read, has holes, or is of a log that
            this database recorded.
    """
    found = await asyncio.to_thread(list_archive, open_place(uri))
    return [await _attach(dsn, one) for one in found]


async def _attach(dsn: str, one: ListedLog) -> Attached:
    identity = one.identity
    rules = [day.manifest.rules for day in one.days]
    number = await attach_log(
        dsn,
        {
            "uid": identity.uid,
            "cluster_name": identity.cluster_name,
            "cluster_uid": identity.cluster_uid,
            "kubernetes": identity.kubernetes,
            "redaction_key_id": identity.redaction_key_id,
            "created_at": identity.created_at,
            "rules": max((n for n in rules if n is not None), default=0),
        },
        [_row(day) for day in one.days],
    )
    return Attached(
        log=number,
        cluster=identity.cluster_name,
        days=len(one.days),
        first=one.days[0].manifest.day,
        last=one.days[-1].manifest.day,
        entries=sum(day.manifest.entries for day in one.days),
    )


def _row(day: ListedDay) -> Mapping[str, object]:
    manifest = day.manifest
    lower = datetime.fromisoformat(manifest.day).replace(tzinfo=UTC)
    return {
        "name": f"attached_{manifest.day}",
        "lower": lower,
        "upper": lower + timedelta(days=1),
        "observed_min": day.observed_min,
        "observed_max": day.observed_max,
        "recorded_at": day.recorded_at,
        "first_batch": manifest.first_batch,
        "last_batch": manifest.last_batch,
        "first_position": manifest.first_position,
        "last_position": manifest.last_position,
        "range": f"\\x{manifest.range}",
        "manifest_sha256": f"\\x{day.sha256}",
        "uri": day.uri,
    }
