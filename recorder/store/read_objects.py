"""Reads the names of a log: nodes, kinds, objects, reasons and actors.

They are read by name, searched by a part of a name, or compared with a name
that was not found. Kinds of custom resources come from their definitions.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from recorder.answers.nouns import CustomKind, Heartbeats, Incarnation, Place
from recorder.answers.queries import (
    CustomKinds,
    HeartbeatsOf,
    Incarnations,
    Kinds,
    NodeNames,
    NodesLike,
    ObjectNames,
    ObjectsLike,
    WordsNear,
)
from recorder.model.reference import ObjectIdentity
from recorder.store.engine import Connection, Engine, fetch, reading
from recorder.store.read_documents import Documents
from recorder.store.statement import question

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
# The same object with another kind: an audit record has the plural of its
# resource.
TWINS = question(f"""{THING}
    where o.log_id = :log and o.uid = any (:uids::text[]) and o.name = :name
      and k.api_group = any (:groups::text[])
    order by o.object_id
    """)
NAMES = question("""
    select namespace, name from recorder.object
    where log_id = :log and kind_id = any (:kinds::int4[]) limit :most
    """)
# Objects of an attached archive have numbers of another database.
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
        """Those found so far: each part of an answer needs them."""

    async def nodes(self, query: NodeNames) -> Sequence[str]:
        """Return those of some nodes that exist; all are in order."""
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
        """Return the group and name of each kind of the database."""
        rows = await fetch(self._engine, "read kinds", KINDS)
        return [(group, name) for group, name in rows]

    async def incarnations(self, query: Incarnations) -> Sequence[Incarnation]:
        """Return the objects of a name; a namespace of None means any.

        They include objects with the same UID that are stored with another
        kind.
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
        """Return the namespace and name of objects, sorted."""
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
        """Return reasons and actors to compare with one; none if it exists.

        All logs of the database share them.
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


KIND_WORDS = {"po": "pod", "no": "node", "ns": "namespace", "ds": "daemonset"}
"""Short names of kinds that users search by."""

NODES_LIKE = question("""
    select name from recorder.node
    where log_id = :log and strpos(name, :text) between 1 and :furthest
    order by case when strpos(name, :text) = 1 then 0 else 1 end, name
    limit :most
    """)
FURTHEST = 1_000
"""Names of Kubernetes have at most 253 characters."""

# The newest incarnation of each name. All names of the log are compared, which
# are at most hundreds of thousands; the timeout of statements bounds it.
OBJECTS_LIKE = question("""
    select k.api_group, k.name as kind, o.namespace, o.name, o.uid
    from (
      select max(o.object_id) as number
      from recorder.object o
      join recorder.kind k on k.kind_id = o.kind_id
      where o.log_id = :log and strpos(o.name, :text) > 0
        and (:everywhere::bool
          or k.api_group || '/' || k.name = any (:kinds::text[])
          or k.api_group || '/' || k.name || '/' || o.namespace
            = any (:places::text[]))
        and (:words::text[] is null or lower(k.name) = any (:words::text[]))
        and k.name <> 'Node'
      group by o.kind_id, o.namespace, o.name) newest
    join recorder.object o on o.object_id = newest.number
    join recorder.kind k on k.kind_id = o.kind_id
    order by case when strpos(o.name, :text) = 1 then 0 else 1 end, o.name,
      o.kind_id
    limit :most
    """)


class LikeReader:
    """Finds names of one log by a part of them."""

    def __init__(self, engine: Engine, log: int) -> None:
        self._engine = engine
        self._log = log

    async def nodes(self, query: NodesLike) -> Sequence[str]:
        """Return nodes; those that begin with the text are first."""
        rows = await fetch(
            self._engine,
            "search nodes",
            NODES_LIKE,
            log=self._log,
            text=query.text,
            furthest=FURTHEST if query.anywhere else 1,
            most=query.limit,
        )
        return [name for (name,) in rows]

    async def objects(self, query: ObjectsLike) -> Sequence[ObjectIdentity]:
        """Return objects, the newest incarnation of each name."""
        within = query.within
        if within is not None and not within:
            return []
        words = None
        if query.kind is not None:
            kind = query.kind.lower()
            word = KIND_WORDS.get(kind, kind)
            words = [word, word.removesuffix("s")]
        rows = await fetch(
            self._engine,
            "search objects",
            OBJECTS_LIKE,
            log=self._log,
            text=query.text,
            everywhere=within is None,
            kinds=_parts(p for p in within or () if p.namespace is None),
            places=_parts(p for p in within or () if p.namespace is not None),
            words=words,
            most=query.limit,
        )
        return [ObjectIdentity(*row) for row in rows]


def _parts(places: Iterable[Place]) -> list[str]:
    return [
        "/".join(part for part in place if part is not None)
        for place in places
    ]


DEFINITIONS_AT_ONCE = 50
"""A CustomResourceDefinition with its schemas may have a megabyte."""

# By the plural if a tape does not have the kind.
DEFINITIONS = question("""
    select max(e.position) from recorder.entry e
    where e.log_id = :log and e.position <= :size
      and e.operation in (#listed, #recovered, #added, #modified, #deleted)
      and e.object_id in (
        select o.object_id from recorder.object o
        join recorder.kind k on k.kind_id = o.kind_id
        where o.log_id = :log and k.api_group = 'apiextensions.k8s.io'
          and k.name in ('CustomResourceDefinition',
            'customresourcedefinitions'))
    group by e.object_id order by max(e.position)
    """)


class _Names(msgspec.Struct):
    kind: str
    plural: str
    singular: str = ""
    shortNames: list[str] = []  # noqa: N815 - the API's own name


class _Spec(msgspec.Struct):
    group: str
    names: _Names
    scope: str = "Namespaced"


class _Definition(msgspec.Struct):
    spec: _Spec


class DefinitionReader:
    """Reads the CustomResourceDefinitions of one log up to a size."""

    def __init__(self, engine: Engine, log: int, size: int) -> None:
        self._engine = engine
        self._log = log
        self._size = size

    async def kinds(self, _: CustomKinds) -> Sequence[CustomKind]:
        """Return the kinds of all definitions, sorted by name.

        Deleted ones are included: their objects are still queried.
        """
        found: dict[str, CustomKind] = {}
        documents = Documents(self._log)
        async with reading(self._engine, "read definitions") as connection:
            rows = await connection.fetch(
                DEFINITIONS, log=self._log, size=self._size
            )
            positions = [position for (position,) in rows]
            for start in range(0, len(positions), DEFINITIONS_AT_ONCE):
                page = positions[start : start + DEFINITIONS_AT_ONCE]
                raws = await documents.at(connection, page)
                for position in page:
                    custom = _read(raws[position])
                    if custom is not None:
                        found[f"{custom.plural}.{custom.group}"] = custom
        return [found[name] for name in sorted(found)]


def _read(raw: bytes) -> CustomKind | None:
    try:
        spec = msgspec.json.decode(raw, type=_Definition).spec
    except msgspec.MsgspecError:
        # It defines no name that could be looked up.
        return None
    names = spec.names
    return CustomKind(
        group=spec.group,
        kind=names.kind,
        plural=names.plural,
        singular=names.singular or names.kind.lower(),
        short_names=tuple(names.shortNames),
        namespaced=spec.scope == "Namespaced",
    )
