"""Everything that a log in PostgreSQL holds, read without the read side."""

from dataclasses import dataclass

import asyncpg

from recorder.intake.state import Recovered
from recorder.model.entry import Draft, Operation
from recorder.model.reference import ObjectIdentity
from recorder.store.codes import OPERATIONS, SOURCES
from recorder.store.lookback import load_decoder
from recorder.store.recover import recover
from tests.support.postgres import connected

__all__ = ["GrowingLog", "WholeLog", "read_log", "whole_log"]

ENTRIES = """
    select e.*, r.name as resource, n.name as node, k.api_group,
      k.name as kind, o.namespace, o.name, o.uid,
      w.text as reason, a.text as actor
    from recorder.entry e
    left join recorder.resource r using (resource_id)
    left join recorder.node n using (node_id)
    left join recorder.object o using (object_id)
    left join recorder.kind k using (kind_id)
    left join recorder.word w on w.word_id = e.reason_id
    left join recorder.word a on a.word_id = e.actor_id
    where e.log_id = $1 and e.position > $2 order by e.position
"""


@dataclass(frozen=True)
class WholeLog:
    """Epoch and draft of each entry, by position, and what intake knows."""

    entries: list[tuple[int, Draft]]
    recovered: Recovered


async def read_log(dsn: str, log: int = 1) -> WholeLog:
    """Read a log, and see that its positions are dense."""
    async with connected(dsn) as connection:
        return await whole_log(connection, log)


async def whole_log(connection: asyncpg.Connection, log: int) -> WholeLog:
    """Do the same over a connection that is there."""
    entries = await GrowingLog(connection, log).entries()
    return WholeLog(entries, await recover(connection, log))


class GrowingLog:
    """A log whose entries are each read once, while it grows."""

    def __init__(self, connection: asyncpg.Connection, log: int) -> None:
        self._connection = connection
        self._log = log
        self._documents: dict[int, bytes] = {}
        self._entries: list[tuple[int, Draft]] = []

    async def entries(self) -> list[tuple[int, Draft]]:
        """Return epoch and draft of each entry that is there by now."""
        rows = await self._connection.fetch(
            ENTRIES, self._log, len(self._entries)
        )
        if not rows:
            return self._entries
        decoder = await load_decoder(self._connection)
        for row in rows:
            position = row["position"]
            assert position == len(self._entries) + 1, "positions are dense"
            keyframe = None
            if row["base_distance"] is not None:
                keyframe = self._documents[position - row["base_distance"]]
            raw = decoder.decode(row["payload"], row["encoding"], keyframe)
            self._documents[position] = raw
            self._entries.append((row["epoch"], _draft(row, raw)))
        return self._entries


def _draft(row: asyncpg.Record, raw: bytes) -> Draft:
    identity = None
    if row["object_id"] is not None:
        identity = ObjectIdentity(
            row["api_group"],
            row["kind"],
            row["namespace"],
            row["name"],
            row["uid"],
        )
    version = row["resource_version"]
    if version is None and row["version"] is not None:
        version = str(row["version"])
    return Draft(
        source=SOURCES[row["source"]],
        operation=Operation(OPERATIONS[row["operation"]]),
        observed_at=row["observed_at"],
        occurred_at=row["occurred_at"],
        raw=raw,
        resource=row["resource"],
        identity=identity,
        resource_version=version,
        node=row["node"],
        reason=row["reason"],
        actor=row["actor"],
    )
