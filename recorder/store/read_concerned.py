"""Reading: the objects that concern nodes, for a tape cut by nodes.

The Node, its Lease and what is bound to it are known by the node that their
entries name; the owners of those are followed upwards by uid. Namespaces
belong to everything.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

import orjson
from sqlalchemy import select, true
from sqlalchemy.ext.asyncio import AsyncConnection

from recorder.store.engine import Engine, reading
from recorder.store.read_cut import GONE, Kept, newest_of_each
from recorder.store.read_documents import Documents
from recorder.store.read_selection import event_resources
from recorder.store.tables import among, entry, kind, node, object_

__all__ = ["find_concerned"]

OWNERS_MAX = 16
"""Levels of owners; Kubernetes itself has about four."""

OBJECTS = 1000
"""Documents looked into at once."""

NAMESPACE_KINDS = ("Namespace", "namespaces")


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

    Kubernetes Events are not among it: they are known by their entries.
    """
    async with reading(engine, "read what concerns nodes") as connection:
        looking = _Looking(
            engine, connection, (log, size), since=since, until=until
        )
        nodes = tuple(
            await connection.scalars(
                select(node.c.node_id).where(
                    node.c.log_id == log, node.c.name.in_(names)
                )
            )
        )
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
    """One look at one state of the log."""

    def __init__(
        self,
        engine: Engine,
        connection: AsyncConnection,
        extent: tuple[int, int],
        *,
        since: datetime | None,
        until: datetime | None,
    ) -> None:
        """Take what is looked at: a log and its size, up to which."""
        self._engine = engine
        self._connection = connection
        self._log, self._size = extent
        self._since = since
        self._until = until
        self._documents = Documents(self._log)

    async def on_nodes(self, nodes: Collection[int]) -> set[int]:
        """Return the objects whose entries ever named one of the nodes."""
        query = (
            select(entry.c.object_id)
            .where(
                among(entry.c.node_id, nodes),
                entry.c.object_id.is_not(None),
                entry.c.resource_id.not_in(await self._events()),
                entry.c.position <= self._size,
            )
            .distinct()
        )
        if self._until is not None:
            query = query.where(entry.c.observed_at < self._until)
        return set(await self._connection.scalars(query))

    async def relevant(self, objects: Collection[int]) -> dict[int, int]:
        """Return those that lived in the window, with their newest version."""
        newest = newest_of_each(
            await self._events(), before=self._until, size=self._size
        )
        query = (
            select(
                object_.c.object_id,
                newest.c.position,
                newest.c.operation,
                newest.c.observed_at,
            )
            .select_from(object_)
            .join(newest, true())
            .where(among(object_.c.object_id, objects))
        )
        return {
            row.object_id: row.position
            for row in await self._connection.execute(query)
            if row.operation not in GONE
            or self._since is None
            or row.observed_at >= self._since
        }

    async def owners(self, versions: dict[int, int]) -> set[int]:
        """Return the owners that the log knows, by the newest documents."""
        uids: set[str] = set()
        positions = sorted(versions.values())
        for start in range(0, len(positions), OBJECTS):
            page = positions[start : start + OBJECTS]
            decoded = await self._documents.at(self._connection, page)
            for raw in decoded.values():
                uids.update(_owner_uids(raw))
        query = select(object_.c.object_id).where(
            object_.c.log_id == self._log, object_.c.uid.in_(sorted(uids))
        )
        return set(await self._connection.scalars(query))

    async def named_alone(self, objects: Collection[int]) -> set[int]:
        """Return the objects that Events referred to without a uid."""
        thing, thing_kind = object_.alias("thing"), kind.alias("thing_kind")
        query = (
            select(object_.c.object_id)
            .join_from(object_, kind, kind.c.kind_id == object_.c.kind_id)
            .join(
                thing,
                (thing.c.log_id == object_.c.log_id)
                & (thing.c.namespace == object_.c.namespace)
                & (thing.c.name == object_.c.name),
            )
            .join(thing_kind, thing_kind.c.kind_id == thing.c.kind_id)
            .where(
                object_.c.log_id == self._log,
                object_.c.uid.is_(None),
                kind.c.name == thing_kind.c.name,
                among(thing.c.object_id, objects),
            )
        )
        return set(await self._connection.scalars(query))

    async def namespaces(self) -> set[int]:
        """Return every Namespace."""
        query = (
            select(object_.c.object_id)
            .join_from(object_, kind, kind.c.kind_id == object_.c.kind_id)
            .where(
                object_.c.log_id == self._log,
                kind.c.api_group == "",
                kind.c.name.in_(NAMESPACE_KINDS),
            )
        )
        return set(await self._connection.scalars(query))

    async def _events(self) -> Sequence[int]:
        return await event_resources(self._engine)


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
