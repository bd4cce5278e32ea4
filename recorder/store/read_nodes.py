"""Reading: Nodes as they were before a time, several at once."""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.model.reference import ObjectIdentity
from recorder.report.ports import Version
from recorder.store.engine import asking, fetch
from recorder.store.read_documents import Documents
from recorder.store.read_selection import VERSIONS
from recorder.store.rows import EVENT_COLLECTIONS

__all__ = ["NodeReader"]

# The newest of each is looked for on its own, through the index of objects.
NEWEST = """
    with thing as (
      select o.object_id, o.name, o.uid from recorder.object o
      where o.log_id = $1 and o.namespace = '' and o.name = any ($3::text[])
        and o.kind_id = (select k.kind_id from recorder.kind k
          where k.api_group = '' and k.name = 'Node')
    ), version as (
      select thing.name, thing.uid, v.position
      from thing, lateral (
        select e.position from recorder.entry e
        where e.object_id = thing.object_id and e.observed_at < $4
          and e.log_id = $1 and e.position <= $2
          and e.operation = any ($5::int2[])
          and e.resource_id <> all (array(
            select resource_id from recorder.resource
            where name = any ($6::text[])))
        order by e.position desc limit 1) v
    ), newest as (
      select distinct on (name) name, uid, position from version
      order by name, position desc
    )
    select e.position, e.recorded_at, e.base_distance, e.encoding, e.payload,
      r.name as resource, newest.name, newest.uid
    from newest
    join recorder.entry e
      on e.log_id = $1 and e.position = newest.position
    join recorder.resource r on r.resource_id = e.resource_id
"""


class NodeReader:
    """Reads the Nodes of one log up to a size."""

    def __init__(self, engine: AsyncEngine, log: int, size: int) -> None:
        self._engine = engine
        self._log = log
        self._size = size
        self._documents = Documents(log)

    async def before(
        self, names: Collection[str], at: datetime
    ) -> Mapping[str, Version]:
        """Give the newest version of each Node before a time, by its name."""
        values = list(names), at, list(VERSIONS), list(EVENT_COLLECTIONS)
        rows = await fetch(
            self._engine,
            "read the nodes",
            NEWEST,
            self._log,
            self._size,
            *values,
        )
        if not rows:
            return {}
        async with asking(self._engine, "read the nodes") as connection:
            raws = await self._documents.decode(connection, rows)
        return {
            row.name: Version(
                ObjectIdentity("", "Node", "", row.name, row.uid),
                row.resource,
                raws[row.position],
            )
            for row in rows
        }
