"""Reads what the writer needs of the past of its log."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import asyncpg
import orjson

from recorder.facts.classify import CLAIM_GROUP, CLAIM_KIND
from recorder.intake.document import read
from recorder.intake.known_events import KnownEvent
from recorder.model.entry import Operation
from recorder.model.reference import Resource
from recorder.store.codes import OPERATION_CODES, SOURCE_CODES
from recorder.store.details import DICTIONARIES
from recorder.store.encoding import Decoder
from recorder.store.statement import Statement

ABSENT = OPERATION_CODES[Operation.ABSENT]
DELETED = OPERATION_CODES[Operation.DELETED]

EVENTS_AT_ONCE = 1000

BY_POSITION = Statement.of("""
    select position, base_distance, encoding, payload from recorder.entry
    where log_id = :log and position = any(:positions::int8[])
""")
EVENTS = Statement.of("""
    select e.position, e.epoch, e.operation, e.observed_at,
      e.base_distance, e.encoding, e.payload
    from recorder.entry e
    where e.log_id = :log and e.observed_at >= :since
      and e.operation <= #absent
      and e.resource_id =
        (select resource_id from recorder.resource where name = :resource)
      and e.position >= coalesce(
        (select min(first_position) from recorder.batch
         where log_id = :log and observed_max >= :since), 0)
    order by e.position
""")
VERSIONS_AT_ONCE = 10_000

VERSIONS = Statement.of("""
    select e.version from recorder.entry e
    where e.log_id = :log and e.observed_at >= :since and e.epoch = :epoch
      and e.operation <= #absent and e.version between :first and :last
      and e.resource_id =
        (select resource_id from recorder.resource where name = :resource)
      and e.position >= coalesce(
        (select min(first_position) from recorder.batch
         where log_id = :log and observed_max >= :since), 0)
""")


OWNED_MAX = 100_000
"""Ten minutes at 170 changes a second; older ones help less."""

OWNED = Statement.of("""
    select r.name, array_agg(e.version) from (
      select e.resource_id, e.version from recorder.entry e
      where e.log_id = :log and e.observed_at >= :since
        and e.epoch = :epoch and e.source = :source
        and e.operation <= #absent and e.version is not null
        and e.position >= coalesce(
          (select min(first_position) from recorder.batch
           where log_id = :log and observed_max >= :since), 0)
      order by e.position desc limit :most) as e
    join recorder.resource r using (resource_id)
    group by r.name
""")

CLOCKS_APART = timedelta(days=1)
"""How far a clock of the cluster may be ahead of PostgreSQL's."""

REQUESTS_MAX = 20_000
"""At the same moments; an API server has about one at each."""

REQUESTS = Statement.of("""
    select e.position, e.base_distance, e.encoding, e.payload
    from recorder.entry e
    where e.log_id = :log and e.operation = #audit
      and e.occurred_at = any(:moments::timestamptz[])
      and e.recorded_at >= :since
    limit :most
""")

CLAIMS = Statement.of("""
    select o.uid from recorder.object o
    join recorder.kind k on k.kind_id = o.kind_id
    where o.uid = any(:keys::text[]) and o.log_id = :log
      and k.api_group = :group and k.name = :kind
""")
"""An object is removed with the last entry that refers to it."""


async def load_decoder(connection: asyncpg.Connection) -> Decoder:
    """Read the dictionaries that payloads name."""
    return Decoder(dict(await DICTIONARIES.fetch(connection)))


async def documents(
    connection: asyncpg.Connection,
    log: int,
    positions: Sequence[int],
    *,
    decoder: Decoder | None = None,
) -> Mapping[int, bytes]:
    """Return the documents of entries by position.

    A caller that has the newest dictionaries may pass its ``decoder``.
    """
    decoder = decoder or await load_decoder(connection)
    rows = await BY_POSITION.fetch(
        connection, log=log, positions=list(positions)
    )
    return await _decoded(connection, log, rows, decoder)


async def _decoded(
    connection: asyncpg.Connection,
    log: int,
    rows: Iterable[asyncpg.Record],
    decoder: Decoder,
) -> dict[int, bytes]:
    """Return the documents of rows by position, and read their keyframes."""
    bases = {
        row["position"] - row["base_distance"]
        for row in rows
        if row["base_distance"] is not None
    }
    keyframes = {
        row["position"]: decoder.decode(row["payload"], row["encoding"])
        for row in await BY_POSITION.fetch(
            connection, log=log, positions=sorted(bases)
        )
    }
    return {
        row["position"]: decoder.decode(
            row["payload"],
            row["encoding"],
            keyframes.get(row["position"] - (row["base_distance"] or 0)),
        )
        for row in rows
    }


async def live_events(
    connection: asyncpg.Connection,
    log: int,
    resource: Resource,
    since: datetime,
) -> Mapping[str, KnownEvent]:
    """Return the live Events by uid, of those observed since a time.

    The time bounds the scan.
    """
    decoder = await load_decoder(connection)
    alive: dict[str, KnownEvent] = {}
    async with connection.transaction(readonly=True):
        cursor = await EVENTS.cursor(
            connection, log=log, resource=str(resource), since=since
        )
        while rows := await cursor.fetch(EVENTS_AT_ONCE):
            raws = await _decoded(connection, log, rows, decoder)
            for row in rows:
                _update(alive, row, raws[row["position"]], resource)
    return alive


async def lacking(
    connection: asyncpg.Connection,
    log: int,
    resource: Resource,
    versions: Sequence[int],
    *,
    epoch: int,
    since: datetime,
) -> Sequence[int]:
    """Return the versions without an entry, sorted.

    Memory: nine bytes for each version, however many entries there are.
    """
    if not versions:
        return []
    wanted = array("q", sorted(versions))
    held = bytearray(len(wanted))
    async with connection.transaction(readonly=True):
        cursor = await VERSIONS.cursor(
            connection,
            log=log,
            resource=str(resource),
            since=since,
            epoch=epoch,
            first=wanted[0],
            last=wanted[-1],
        )
        while rows := await cursor.fetch(VERSIONS_AT_ONCE):
            for (version,) in rows:
                place = bisect_left(wanted, version)
                if place < len(wanted) and wanted[place] == version:
                    held[place] = True
    return [
        one for one, is_held in zip(wanted, held, strict=True) if not is_held
    ]


async def owned(
    connection: asyncpg.Connection,
    log: int,
    source: str,
    *,
    epoch: int,
    since: datetime,
) -> Mapping[str, Sequence[int]]:
    """Return the newest versions of each resource of a source."""
    rows = await OWNED.fetch(
        connection,
        log=log,
        source=SOURCE_CODES[source],
        since=since,
        epoch=epoch,
        most=OWNED_MAX,
    )
    return dict(rows)


async def requests(
    connection: asyncpg.Connection, log: int, moments: Sequence[datetime]
) -> Sequence[bytes]:
    """Return the audit records of requests received at some moments."""
    if not moments:
        return []
    rows = await REQUESTS.fetch(
        connection,
        log=log,
        moments=list(moments),
        since=moments[0] - CLOCKS_APART,
        most=REQUESTS_MAX,
    )
    if not rows:
        return []
    decoder = await load_decoder(connection)
    return list((await _decoded(connection, log, rows, decoder)).values())


async def claims(
    connection: asyncpg.Connection, log: int, keys: Sequence[str]
) -> Sequence[str]:
    """Return those keys whose claims are in the log."""
    if not keys:
        return []
    rows = await CLAIMS.fetch(
        connection,
        log=log,
        keys=list(keys),
        group=CLAIM_GROUP,
        kind=CLAIM_KIND,
    )
    return [key for (key,) in rows]


def _update(
    alive: dict[str, KnownEvent],
    row: asyncpg.Record,
    raw: bytes,
    resource: Resource,
) -> None:
    """Add or remove an Event, as an entry reports it."""
    if row["operation"] == ABSENT:
        alive.pop(orjson.loads(raw)["uid"], None)
        return
    document = read(raw, resource=resource)
    _, uid = document.key
    if row["operation"] == DELETED:
        alive.pop(uid, None)
        return
    alive[uid] = KnownEvent(
        row["epoch"],
        document.namespace,
        document.name,
        document.resource_version,
        row["observed_at"],
        row["position"],
    )
