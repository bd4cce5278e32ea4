"""Dimension tables: the numbers that entries have for names.

Numbers are read or created in the writing transaction and cached. A cached
number of a failed transaction would refer to nothing, so call
`Dimensions.forget` after each failure. Object ids come from blocks of a
sequence. A process that creates objects holds the head of their log, as the
writer does when it appends, so that an object has one number.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import asyncpg

from recorder.model.reference import ObjectIdentity
from recorder.store.names import Names, Numbers
from recorder.store.statement import Statement

BLOCK = 1000
"""Ids for one value of the sequence; see the migration."""

OBJECTS_MAX = 200_000
"""Objects whose ids are cached: about 40 MB. Others are read again."""

WORDS_MAX = 100_000
"""Reasons and actors that are cached; with more, the cache is emptied."""

FIND_NODES = Statement.of("""
    select name, node_id from recorder.node
    where log_id = :log and name = any(:names::text[])
""")
MAKE_NODES = Statement.of("""
    insert into recorder.node (log_id, name)
    select :log, unnest(:names::text[])
    on conflict do nothing
""")
FIND_WORDS = Statement.of("""
    select text, word_id from recorder.word where text = any(:texts::text[])
""")
MAKE_WORDS = Statement.of("""
    insert into recorder.word (text) select unnest(:texts::text[])
    on conflict do nothing
""")
FIND_RESOURCES = Statement.of("""
    select name, resource_id from recorder.resource
    where name = any(:names::text[])
""")
MAKE_RESOURCES = Statement.of("""
    insert into recorder.resource (name) select unnest(:names::text[])
    on conflict do nothing
""")
FIND_KINDS = Statement.of("""
    select api_group, name, kind_id from recorder.kind
    where (api_group, name) in
      (select * from unnest(:groups::text[], :names::text[]))
""")
MAKE_KINDS = Statement.of("""
    insert into recorder.kind (api_group, name)
    select * from unnest(:groups::text[], :names::text[])
    on conflict do nothing
""")
HOLD_HEAD = Statement.of("""
    select from recorder.log_head where log_id = :log for update
""")
NEXT_OBJECTS = Statement.of("select nextval('recorder.object_id_block')")
# By its UID where it has one: a port that flaps has thousands of claims with
# one name. The lateral query keeps the planner from the index of names.
FIND_OBJECTS = Statement.of("""
    with w as (
      select * from unnest(:places::int[], :kinds::int[], :namespaces::text[],
          :names::text[], :uids::text[])
        as w (place, kind_id, namespace, name, uid)
    ), found as (
      select w.place, o.object_id
      from w, lateral (
        select * from recorder.object where uid = w.uid offset 0) o
      where o.log_id = :log and o.kind_id = w.kind_id
        and o.namespace = w.namespace and o.name = w.name
      union all
      select w.place, o.object_id
      from w join recorder.object o on o.log_id = :log
        and o.kind_id = w.kind_id and o.namespace = w.namespace
        and o.name = w.name and o.uid is null
      where w.uid is null
    )
    select place, max(object_id) from found group by place
""")


class Dimensions:
    """Numbers for names, within one log."""

    def __init__(self, log: int, *, beside_a_writer: bool = False) -> None:
        """Take the log; ``beside_a_writer`` if another process writes it."""
        self._log = log
        self._beside_a_writer = beside_a_writer
        self.forget()

    def forget(self) -> None:
        """Empty the caches: a transaction may not have committed."""
        self._nodes: dict[str, int] = {}
        self._words: dict[str, int] = {}
        self._resources: dict[str, int] = {}
        self._kinds: dict[tuple[str, str], int] = {}
        self._objects: dict[ObjectIdentity, int] = {}
        self._free: list[int] = []

    async def numbers(
        self, connection: asyncpg.Connection, names: Names
    ) -> Numbers:
        """Return the number of each name; create those that are new."""
        return Numbers(
            nodes=await self.nodes(connection, names.nodes),
            objects=await self.objects(connection, names.objects),
            resources=await self.resources(connection, names.resources),
            words=await self.words(connection, names.words),
        )

    async def nodes(
        self, connection: asyncpg.Connection, names: set[str]
    ) -> dict[str, int]:
        """Return the number of each node; create those that are new."""
        missing = sorted(names - self._nodes.keys())
        if missing:
            await MAKE_NODES.execute(connection, log=self._log, names=missing)
            rows = await FIND_NODES.fetch(
                connection, log=self._log, names=missing
            )
            self._nodes.update(rows)
        return self._nodes

    async def words(
        self, connection: asyncpg.Connection, texts: set[str]
    ) -> dict[str, int]:
        """Return the number of each reason or actor; create new ones."""
        missing = sorted(texts - self._words.keys())
        if missing:
            if len(self._words) > WORDS_MAX:
                self._words.clear()
                missing = sorted(texts)
            await MAKE_WORDS.execute(connection, texts=missing)
            self._words.update(
                await FIND_WORDS.fetch(connection, texts=missing)
            )
        return self._words

    async def resources(
        self, connection: asyncpg.Connection, names: set[str]
    ) -> dict[str, int]:
        """Return the number of each resource; create those that are new."""
        missing = sorted(names - self._resources.keys())
        if missing:
            await MAKE_RESOURCES.execute(connection, names=missing)
            rows = await FIND_RESOURCES.fetch(connection, names=missing)
            self._resources.update(rows)
        return self._resources

    async def objects(
        self,
        connection: asyncpg.Connection,
        identities: Mapping[ObjectIdentity, None],
    ) -> Mapping[ObjectIdentity, int]:
        """Return the number of each object; create those that are new.

        The result is a small dictionary: the cache is large, and slower to
        read for each row.
        """
        known = self._objects
        if len(known) > OBJECTS_MAX:
            for oldest in list(islice(known, OBJECTS_MAX // 2)):
                del known[oldest]
        missing = [i for i in identities if i not in known]
        if missing:
            await self._find_or_make(connection, missing)
        return {identity: known[identity] for identity in identities}

    def know(self, identity: ObjectIdentity, number: int) -> None:
        """Cache the number of an object that is known."""
        self._objects[identity] = number

    async def _find_or_make(
        self,
        connection: asyncpg.Connection,
        missing: Sequence[ObjectIdentity],
    ) -> None:
        await self._find(connection, missing)
        unknown = [i for i in missing if i not in self._objects]
        if unknown and self._beside_a_writer:
            await HOLD_HEAD.execute(connection, log=self._log)
            await self._find(connection, unknown)
            unknown = [i for i in unknown if i not in self._objects]
        rows = []
        for identity in unknown:
            number = await self._next_object_id(connection)
            self._objects[identity] = number
            rows.append(
                (
                    number,
                    self._log,
                    self._kinds[identity.group, identity.kind],
                    identity.namespace,
                    identity.name,
                    identity.uid,
                )
            )
        if rows:
            await connection.copy_records_to_table(
                "object", schema_name="recorder", records=rows
            )

    async def _find(
        self, connection: asyncpg.Connection, missing: Sequence[ObjectIdentity]
    ) -> None:
        kinds = await self._kind_numbers(connection, missing)
        found = await FIND_OBJECTS.fetch(
            connection,
            log=self._log,
            places=range(len(missing)),
            kinds=[kinds[i.group, i.kind] for i in missing],
            namespaces=[i.namespace for i in missing],
            names=[i.name for i in missing],
            uids=[i.uid for i in missing],
        )
        for place, number in found:
            self._objects[missing[place]] = number

    async def _kind_numbers(
        self,
        connection: asyncpg.Connection,
        identities: Iterable[ObjectIdentity],
    ) -> dict[tuple[str, str], int]:
        wanted = {(i.group, i.kind) for i in identities}
        missing = sorted(wanted - self._kinds.keys())
        if missing:
            groups, names = map(list, zip(*missing, strict=True))
            asked = {"groups": groups, "names": names}
            await MAKE_KINDS.execute(connection, **asked)
            for group, name, number in await FIND_KINDS.fetch(
                connection, **asked
            ):
                self._kinds[group, name] = number
        return self._kinds

    async def _next_object_id(self, connection: asyncpg.Connection) -> int:
        if not self._free:
            first = await NEXT_OBJECTS.fetch_value(connection)
            self._free = list(range(first + BLOCK - 1, first - 1, -1))
        return self._free.pop()
