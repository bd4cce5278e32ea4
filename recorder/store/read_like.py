"""Reading: names by a part of them, for who searches.

A text is found anywhere in a name by looking at all of a log's, of which
there are hundreds of thousands at most; the statement's time bounds it.
"""

from collections.abc import Iterable, Sequence

from recorder.answers.nouns import Place
from recorder.answers.queries import NodesLike, ObjectsLike
from recorder.model.reference import ObjectIdentity
from recorder.store.engine import Engine, fetch
from recorder.store.statement import question

__all__ = ["LikeReader"]

KIND_WORDS = {"po": "pod", "no": "node", "ns": "namespace", "ds": "daemonset"}
"""Short names of kinds that people search by."""


NODES = question("""
    select name from recorder.node
    where log_id = :log and strpos(name, :text) between 1 and :furthest
    order by case when strpos(name, :text) = 1 then 0 else 1 end, name
    limit :most
    """)
FURTHEST = 1_000
"""Names of Kubernetes have 253 characters at most."""

# Of each name the newest incarnation.
OBJECTS = question("""
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
    """Finds names of one log."""

    def __init__(self, engine: Engine, log: int) -> None:
        self._engine = engine
        self._log = log

    async def nodes(self, query: NodesLike) -> Sequence[str]:
        """Return nodes, those first that begin with the text."""
        rows = await fetch(
            self._engine,
            "search nodes",
            NODES,
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
            OBJECTS,
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
