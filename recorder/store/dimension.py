"""Dimension tables: the numbers that entries hold for names.

Numbers are found or made in the writing transaction, then remembered. A
number remembered from a transaction that failed would point nowhere, so
`Dimensions.forget` is called after every failure. Object ids are handed out
from blocks of a sequence. Who makes objects holds the head of their log, as
the writer does whenever it appends: an object has one number.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import asyncpg

from recorder.model.reference import ObjectIdentity
from recorder.store.names import Names, Numbers
from recorder.store.statement import Statement

__all__ = ["Dimensions"]

BLOCK = 1000
"""Ids that one value of the sequence stands for; see the migration."""

OBJECTS_MAX = 200_000
"""Objects whose ids are remembered: about 40 MB. The others are found in the
database when they are named again."""

WORDS_MAX = 100_000
"""Reasons and actors remembered; whoever invents more makes us ask again."""

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
FIND_OBJECTS = Statement.of("""
    select w.place, max(o.object_id)
    from unnest(:places::int[], :kinds::int[], :namespaces::text[],
        :names::text[], :uids::text[])
      as w (place, kind_id, namespace, name, uid)
    join recorder.object o on o.log_id = :log and o.kind_id = w.kind_id
     and o.namespace = w.namespace and o.name = w.name
     and o.uid is not distinct from w.uid
    group by w.place
""")


class Dimensions:
    """Numbers for names, within one log."""

    def __init__(self, log: int, *, beside_a_writer: bool = False) -> None:
        """Bind to the log; ``beside_a_writer`` where it is only read."""
        self._log = log
        self._beside_a_writer = beside_a_writer
        self.forget()

    def forget(self) -> None:
        """Drop cached rows of a transaction that may not have committed."""
        self._nodes: dict[str, int] = {}
        self._words: dict[str, int] = {}
        self._resources: dict[str, int] = {}
        self._kinds: dict[tuple[str, str], int] = {}
        self._objects: dict[ObjectIdentity, int] = {}
        self._free: list[int] = []

    async def numbers(
        self, connection: asyncpg.Connection, names: Names
    ) -> Numbers:
        """Return the number of each name, making those that are new."""
        return Numbers(
            nodes=await self.nodes(connection, names.nodes),
            objects=await self.objects(connection, names.objects),
            resources=await self.resources(connection, names.resources),
            words=await self.words(connection, names.words),
        )

    async def nodes(
        self, connection: asyncpg.Connection, names: set[str]
    ) -> dict[str, int]:
        """Return the number of each node, making those that are new."""
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
        """Return the number of each reason or actor."""
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
        """Return the number of each resource."""
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
        """Return the number of each object, making those that are new.

        What is remembered is large and cold; rows ask the answer, which
        holds the keys that they have.
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
        """Remember the number of an object that was read with it."""
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
