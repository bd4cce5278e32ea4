"""Finds the objects that concern nodes, for a tape cut by nodes.

The Node, its Lease and its Pods are found by the node in their entries; their
owners are found by uid. All Namespaces are included.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

import orjson

from recorder.store.engine import Connection, Engine, reading
from recorder.store.read_cut import GONE, NEWEST_OF_EACH, Kept
from recorder.store.read_documents import Documents
from recorder.store.read_selection import event_resources
from recorder.store.statement import Statement

OWNERS_MAX = 16
"""Levels of owners; Kubernetes itself has about four."""

OBJECTS = 1000
"""Documents that are read at once."""

BEFORE = "(:until::timestamptz is null or e.observed_at < :until)"

NODES = Statement.of("""
    select node_id from recorder.node
    where log_id = :log and name = any (:names::text[])
""")
ON_NODES = Statement.of(f"""
    select distinct e.object_id from recorder.entry e
    where e.node_id = any (:nodes::int4[]) and e.object_id is not null
      and e.resource_id <> all (:events::int2[]) and e.position <= :size
      and {BEFORE}
""")
RELEVANT = Statement.of(f"""
    select o.object_id, newest.position, newest.operation, newest.observed_at
    from recorder.object o, {NEWEST_OF_EACH.format(before=BEFORE)}
    where o.object_id = any (:objects::int8[])
""")
BY_UID = Statement.of("""
    select object_id from recorder.object
    where log_id = :log and uid = any (:uids::text[])
""")
# Events refer to some objects without a uid.
NAMED_ALONE = Statement.of("""
    select o.object_id
    from recorder.object o
    join recorder.kind k on k.kind_id = o.kind_id
    join recorder.object thing on thing.log_id = o.log_id
      and thing.namespace = o.namespace and thing.name = o.name
    join recorder.kind thing_kind on thing_kind.kind_id = thing.kind_id
    where o.log_id = :log and o.uid is null and k.name = thing_kind.name
      and thing.object_id = any (:objects::int8[])
""")
NAMESPACES = Statement.of("""
    select o.object_id
    from recorder.object o join recorder.kind k on k.kind_id = o.kind_id
    where o.log_id = :log and k.api_group = ''
      and k.name in ('Namespace', 'namespaces')
""")


async def find_concerned(
    engine: Engine,
    log: int,
    size: int,
    names: Collection[str],
    *,
    since: datetime | None,
    until: datetime | None,
) -> Kept:
    """Return the entries about nodes in a window, or alive at its start.

    Kubernetes Events are not included: they are found by their entries.
    """
    async with reading(engine, "read what concerns nodes") as connection:
        looking = _Looking(
            engine, connection, (log, size), since=since, until=until
        )
        rows = await connection.fetch(NODES, log=log, names=list(names))
        nodes = tuple(number for (number,) in rows)
        found = await looking.on_nodes(nodes)
        wanted = await looking.relevant(found)
        kept = set(wanted)
        for _ in range(OWNERS_MAX):
            owners = await looking.owners(wanted) - kept
            if not owners:
                break
            kept |= owners
            wanted = await looking.relevant(owners)
        kept |= await looking.named_alone(kept)
        kept |= await looking.namespaces()
    return Kept(nodes, tuple(sorted(kept)))


class _Looking:
    """One search in one state of the log."""

    def __init__(
        self,
        engine: Engine,
        connection: Connection,
        extent: tuple[int, int],
        *,
        since: datetime | None,
        until: datetime | None,
    ) -> None:
        """Take the log and its size, and the window."""
        self._engine = engine
        self._connection = connection
        self._log, self._size = extent
        self._since = since
        self._until = until
        self._documents = Documents(self._log)

    async def on_nodes(self, nodes: Collection[int]) -> set[int]:
        """Return the objects whose entries ever named one of the nodes."""
        return await self._objects(
            ON_NODES,
            nodes=list(nodes),
            events=await self._events(),
            size=self._size,
            until=self._until,
        )

    async def relevant(self, objects: Collection[int]) -> dict[int, int]:
        """Return those that lived in the window, with their newest version."""
        rows = await self._connection.fetch(
            RELEVANT,
            objects=list(objects),
            events=await self._events(),
            size=self._size,
            until=self._until,
        )
        return {
            row.object_id: row.position
            for row in rows
            if row.operation not in GONE
            or self._since is None
            or row.observed_at >= self._since
        }

    async def owners(self, versions: dict[int, int]) -> set[int]:
        """Return the owners that the newest versions name, if known."""
        uids: set[str] = set()
        positions = sorted(versions.values())
        for start in range(0, len(positions), OBJECTS):
            page = positions[start : start + OBJECTS]
            decoded = await self._documents.at(self._connection, page)
            for raw in decoded.values():
                uids.update(_owner_uids(raw))
        return await self._objects(BY_UID, log=self._log, uids=sorted(uids))

    async def named_alone(self, objects: Collection[int]) -> set[int]:
        """Return the objects that Events referred to without a uid."""
        return await self._objects(
            NAMED_ALONE, log=self._log, objects=list(objects)
        )

    async def namespaces(self) -> set[int]:
        """Return every Namespace."""
        return await self._objects(NAMESPACES, log=self._log)

    async def _objects(
        self, statement: Statement, **values: object
    ) -> set[int]:
        rows = await self._connection.fetch(statement, **values)
        return {number for (number,) in rows}

    async def _events(self) -> Sequence[int]:
        return [*await event_resources(self._engine)]


def _owner_uids(raw: bytes) -> Iterator[str]:
    """Yield the uids of the owners that a document names."""
    document = orjson.loads(raw)
    metadata = document.get("metadata") if isinstance(document, dict) else None
    owners = (
        metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    )
    for owner in owners if isinstance(owners, list) else ():
        uid = owner.get("uid") if isinstance(owner, dict) else None
        if isinstance(uid, str):
            yield uid
