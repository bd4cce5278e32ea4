"""Reads several Nodes, or other objects, as they were before a time."""

from collections.abc import Mapping, Sequence

from recorder.answers.nouns import Version
from recorder.answers.queries import NodesBefore, ObjectsBefore
from recorder.model.entry import Operation
from recorder.model.reference import ObjectIdentity
from recorder.store.codes import OPERATIONS
from recorder.store.engine import Engine, asking, fetch
from recorder.store.read_documents import Documents
from recorder.store.read_selection import VERSIONS
from recorder.store.rows import EVENT_COLLECTIONS
from recorder.store.statement import Record, Statement, question

GONE = frozenset({Operation.DELETED, Operation.ABSENT})

# For each object, day by day backwards until a version is found: an entry of a
# later day has a later position. In a day the index of objects is used, so
# that no other entries are read.
NEWEST_OF = """
    with thing as (
      select o.object_id, o.namespace, o.name, o.uid from recorder.object o
      where o.log_id = :log and o.name = any (:names::text[]) and {which}
    ), newest as (
      select distinct on (thing.namespace, thing.name)
        thing.namespace, thing.name, thing.uid, v.*
      from thing, lateral (
        select e.* from (
          select lower, upper from recorder.partition
          where observed_min < :before order by lower desc) day, lateral (
          select e.position, e.recorded_at, e.base_distance, e.encoding,
            e.payload, e.resource_id, e.operation
          from recorder.entry e
          where e.recorded_at >= day.lower and e.recorded_at < day.upper
            and e.object_id = thing.object_id and e.observed_at < :before
            and e.log_id = :log and e.position <= :size
            and e.operation = any (:operations::int2[])
            and e.resource_id <> all (array(
              select resource_id from recorder.resource
              where name = any (:events::text[])))
          order by e.position + 0 desc limit 1) e
        order by day.lower desc limit 1) v
      order by thing.namespace, thing.name, v.position desc
    )
    select newest.*, r.name as resource
    from newest join recorder.resource r using (resource_id)
"""
NEWEST = question(
    NEWEST_OF.format(
        which="""o.namespace = '' and o.kind_id = (
        select k.kind_id from recorder.kind k
        where k.api_group = '' and k.name = 'Node')"""
    )
)
OBJECTS = question(
    NEWEST_OF.format(
        which="""(:namespace::text is null or o.namespace = :namespace)
        and o.kind_id = any (array(select k.kind_id from recorder.kind k
          where k.api_group || '/' || k.name = any (:kinds::text[])))"""
    )
)


class NodeReader:
    """Reads the Nodes of one log up to a size."""

    def __init__(self, engine: Engine, log: int, size: int) -> None:
        self._engine = engine
        self._log = log
        self._size = size
        self._documents = Documents(log)

    async def before(self, query: NodesBefore) -> Mapping[str, Version]:
        """Return the newest version of each Node before a time, by name."""
        if not query.names:
            return {}
        found = await self._newest(
            NEWEST, "read the nodes", names=list(query.names), before=query.at
        )
        return {
            row.name: _version(row, raw, ("", "Node")) for row, raw in found
        }

    async def objects_before(
        self, query: ObjectsBefore
    ) -> Mapping[tuple[str, str], Version]:
        """Return the newest version of each object before a time."""
        if not query.names:
            return {}
        found = await self._newest(
            OBJECTS,
            "read the objects",
            names=list(query.names),
            namespace=query.namespace,
            kinds=[f"{group}/{kind}" for group, kind in query.kinds],
            before=query.at,
        )
        return {
            (row.namespace, row.name): _version(row, raw, query.kinds[0])
            for row, raw in found
        }

    async def _newest(
        self, statement: Statement, what: str, **asked: object
    ) -> Sequence[tuple[Record, bytes]]:
        """Return rows with the documents of their entries."""
        rows = await fetch(
            self._engine,
            what,
            statement,
            log=self._log,
            size=self._size,
            operations=list(VERSIONS),
            events=list(EVENT_COLLECTIONS),
            **asked,
        )
        if not rows:
            return []
        async with asking(self._engine, what) as connection:
            raws = await self._documents.decode(connection, rows)
        return [(row, raws[row.position]) for row in rows]


def _version(row: Record, raw: bytes, kind: tuple[str, str]) -> Version:
    return Version(
        ObjectIdentity(*kind, row.namespace, row.name, row.uid),
        row.resource,
        raw,
        gone=OPERATIONS[row.operation] in GONE,
        position=row.position,
    )
