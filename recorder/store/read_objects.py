"""Reading: the names of a log: nodes, kinds, objects, words.

Where nothing has the name asked for, names near it are looked for among as
many as can be read in a moment.
"""

from collections.abc import Collection, Mapping, Sequence

from recorder.answers.nouns import Heartbeats, Incarnation
from recorder.answers.queries import (
    HeartbeatsOf,
    Incarnations,
    Kinds,
    NodeNames,
    ObjectNames,
    WordsNear,
)
from recorder.model.reference import ObjectIdentity
from recorder.store.engine import Connection, Engine, fetch, reading
from recorder.store.statement import question

__all__ = ["THINGS", "TWINS", "NameReader"]

NAMES_MAX = 20_000
"""Names compared with one that was not found; more would take seconds."""

KNOWN = question("""
    select name from recorder.node
    where log_id = :log and name = any (:names::text[])
    """)
NODES = question("""
    select name from recorder.node where log_id = :log
    order by name limit :most
    """)
KINDS = question("select api_group, name from recorder.kind")
KINDS_NAMED = question("""
    select k.kind_id
    from unnest(:groups::text[], :kinds::text[]) w (api_group, name)
    join recorder.kind k on k.api_group = w.api_group and k.name = w.name
    """)
THING = """
    select o.object_id, k.api_group, k.name as kind, o.namespace, o.name, o.uid
    from recorder.object o join recorder.kind k on k.kind_id = o.kind_id
"""
THINGS = question(f"""{THING}
    where o.log_id = :log and o.kind_id = any (:kinds::int4[])
      and o.name = :name
      and (:namespace::text is null or o.namespace = :namespace)
    order by o.object_id
    """)
# The same by another kind: an audit record names its object by the plural of
# its resource.
TWINS = question(f"""{THING}
    where o.log_id = :log and o.uid = any (:uids::text[]) and o.name = :name
      and k.api_group = any (:groups::text[])
    order by o.object_id
    """)
NAMES = question("""
    select namespace, name from recorder.object
    where log_id = :log and kind_id = any (:kinds::int4[]) limit :most
    """)
# Those of an attached archive are numbers of another database.
HEARTBEATS = question("""
    select object_id, heartbeats, heartbeat_at, version, resource_version
    from recorder.object_head
    where log_id = :log and object_id = any (:numbers::int8[])
    """)
WORD = question("select word_id from recorder.word where text = :word")
WORDS = question("select text from recorder.word limit :most")


class NameReader:
    """Reads the names of one log."""

    def __init__(self, engine: Engine, log: int) -> None:
        self._engine = engine
        self._log = log
        self._known_nodes: set[str] = set()
        """As far as they were asked for: each part of an answer asks."""

    async def nodes(self, query: NodeNames) -> Sequence[str]:
        """Return the nodes that any entry concerns, in order where all."""
        names = query.names
        if names is None:
            return await self._node_names()
        missing = set(names) - self._known_nodes
        if missing:
            rows = await fetch(
                self._engine,
                "read nodes",
                KNOWN,
                log=self._log,
                names=list(missing),
            )
            self._known_nodes.update(name for (name,) in rows)
        return [*self._known_nodes.intersection(names)]

    async def _node_names(self) -> Sequence[str]:
        rows = await fetch(
            self._engine, "read nodes", NODES, log=self._log, most=NAMES_MAX
        )
        return [name for (name,) in rows]

    async def kinds(self, _: Kinds) -> Sequence[tuple[str, str]]:
        """Return group and name of every kind of the database."""
        rows = await fetch(self._engine, "read kinds", KINDS)
        return [(group, name) for group, name in rows]

    async def incarnations(self, query: Incarnations) -> Sequence[Incarnation]:
        """Return the objects of a name; in any namespace where it is None.

        An object of one UID is all of its own, by whatever kind it is filed.
        """
        asked = {"log": self._log, "name": query.name}
        async with reading(self._engine, "read objects") as connection:
            rows = await connection.fetch(
                THINGS,
                kinds=await _kinds_named(connection, query.kinds),
                namespace=query.namespace,
                **asked,
            )
            uids = {row.uid for row in rows if row.uid is not None}
            if uids:
                groups = {group for group, _ in query.kinds}
                twins = await connection.fetch(
                    TWINS, uids=list(uids), groups=list(groups), **asked
                )
                rows = [*rows, *twins]
        found = {number: identity for number, *identity in rows}
        return [
            Incarnation(n, ObjectIdentity(*found[n])) for n in sorted(found)
        ]

    async def object_names(
        self, query: ObjectNames
    ) -> Sequence[tuple[str, str]]:
        """Return namespace and name of objects, where known."""
        async with reading(self._engine, "read objects") as connection:
            rows = await connection.fetch(
                NAMES,
                log=self._log,
                kinds=await _kinds_named(connection, query.kinds),
                most=NAMES_MAX,
            )
        return sorted({(namespace, name) for namespace, name in rows})

    async def heartbeats(
        self, query: HeartbeatsOf
    ) -> Mapping[int, Heartbeats]:
        """Return the folded heartbeats of live objects, by number."""
        rows = await fetch(
            self._engine,
            "read heartbeats",
            HEARTBEATS,
            log=self._log,
            numbers=list(query.numbers),
        )
        return {
            row.object_id: Heartbeats(
                row.heartbeats,
                row.heartbeat_at,
                row.resource_version
                if row.version is None
                else str(row.version),
            )
            for row in rows
        }

    async def words(self, query: WordsNear) -> Sequence[str]:
        """Return reasons and actors to compare with one; none if it is known.

        They are shared by all logs of the database.
        """
        async with reading(self._engine, "read reasons") as connection:
            if await connection.fetch(WORD, word=query.word):
                return []
            rows = await connection.fetch(WORDS, most=NAMES_MAX)
        return [text for (text,) in rows]


async def _kinds_named(
    connection: Connection, kinds: Collection[tuple[str, str]]
) -> Sequence[int]:
    rows = await connection.fetch(
        KINDS_NAMED,
        groups=[group for group, _ in kinds],
        kinds=[kind for _, kind in kinds],
    )
    return [number for (number,) in rows]
