"""Reading: the names of a log: nodes, kinds, objects, words.

Where nothing has the name asked for, names near it are looked for among as
many as can be read in a moment.
"""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import select, tuple_

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
from recorder.store.engine import Engine, fetch, reading
from recorder.store.statement import Statement
from recorder.store.tables import (
    Query,
    kind,
    node,
    object_,
    object_head,
    word,
)

__all__ = ["NameReader", "things_query", "twins_query"]

NAMES_MAX = 20_000
"""Names compared with one that was not found; more would take seconds."""

KNOWN = Statement.of("""
    select name from recorder.node
    where log_id = :log and name = any (:names)
""")


def things_query(
    log: int,
    kinds: Collection[int],
    *,
    namespace: str | None,
    name: str,
) -> Query:
    """Select the objects of a name."""
    query = (
        _things()
        .where(
            object_.c.log_id == log,
            object_.c.kind_id.in_(kinds),
            object_.c.name == name,
        )
        .order_by(object_.c.object_id)
    )
    if namespace is not None:
        query = query.where(object_.c.namespace == namespace)
    return query


def twins_query(
    log: int,
    uids: Collection[str],
    *,
    groups: Collection[str],
    name: str,
) -> Query:
    """Select the objects of a name that are the same, by another kind.

    An audit record names its object by the plural of its resource.
    """
    return (
        _things()
        .where(
            object_.c.log_id == log,
            object_.c.uid.in_(uids),
            object_.c.name == name,
            kind.c.api_group.in_(groups),
        )
        .order_by(object_.c.object_id)
    )


def _things() -> Query:
    return select(
        object_.c.object_id,
        kind.c.api_group,
        kind.c.name.label("kind"),
        object_.c.namespace,
        object_.c.name,
        object_.c.uid,
    ).join_from(object_, kind, kind.c.kind_id == object_.c.kind_id)


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
        query = (
            select(node.c.name)
            .where(node.c.log_id == self._log)
            .order_by(node.c.name)
            .limit(NAMES_MAX)
        )
        async with reading(self._engine, "read nodes") as connection:
            return (await connection.scalars(query)).all()

    async def kinds(self, _: Kinds) -> Sequence[tuple[str, str]]:
        """Return group and name of every kind of the database."""
        query = select(kind.c.api_group, kind.c.name)
        async with reading(self._engine, "read kinds") as connection:
            return [(g, n) for g, n in await connection.execute(query)]

    async def incarnations(self, query: Incarnations) -> Sequence[Incarnation]:
        """Return the objects of a name; in any namespace where it is None.

        An object of one UID is all of its own, by whatever kind it is filed.
        """
        kinds, name = query.kinds, query.name
        async with reading(self._engine, "read objects") as connection:
            numbers = (await connection.scalars(_kinds_query(kinds))).all()
            things = things_query(
                self._log, numbers, namespace=query.namespace, name=name
            )
            rows = (await connection.execute(things)).all()
            uids = {row.uid for row in rows if row.uid is not None}
            if uids:
                groups = {group for group, _ in kinds}
                twins = twins_query(self._log, uids, groups=groups, name=name)
                rows = [*rows, *await connection.execute(twins)]
        found = {number: identity for number, *identity in rows}
        return [
            Incarnation(n, ObjectIdentity(*found[n])) for n in sorted(found)
        ]

    async def object_names(
        self, query: ObjectNames
    ) -> Sequence[tuple[str, str]]:
        """Return namespace and name of objects, where known."""
        of_kinds = _kinds_query(query.kinds)
        async with reading(self._engine, "read objects") as connection:
            numbers = (await connection.scalars(of_kinds)).all()
            named = (
                select(object_.c.namespace, object_.c.name)
                .where(
                    object_.c.log_id == self._log,
                    object_.c.kind_id.in_(numbers),
                )
                .limit(NAMES_MAX)
            )
            found = {
                (ns, name) for ns, name in await connection.execute(named)
            }
        return sorted(found)

    async def heartbeats(
        self, query: HeartbeatsOf
    ) -> Mapping[int, Heartbeats]:
        """Return the folded heartbeats of live objects, by number."""
        counted = select(
            object_head.c.object_id,
            object_head.c.heartbeats,
            object_head.c.heartbeat_at,
            object_head.c.version,
            object_head.c.resource_version,
        ).where(
            object_head.c.object_id.in_(query.numbers),
            # Those of an attached archive are numbers of another database.
            object_head.c.log_id == self._log,
        )
        async with reading(self._engine, "read heartbeats") as connection:
            rows = (await connection.execute(counted)).all()
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
            known = select(word.c.word_id).where(word.c.text == query.word)
            if await connection.scalar(known) is not None:
                return []
            texts = select(word.c.text).limit(NAMES_MAX)
            return (await connection.scalars(texts)).all()


def _kinds_query(kinds: Collection[tuple[str, str]]) -> Query:
    return select(kind.c.kind_id).where(
        tuple_(kind.c.api_group, kind.c.name).in_(list(kinds))
    )
