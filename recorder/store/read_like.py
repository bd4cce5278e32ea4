"""Reading: names by a part of them, for who searches.

A text is found anywhere in a name by looking at all of a log's, of which
there are hundreds of thousands at most; the statement's time bounds it.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, case, func, or_, select, tuple_

from recorder.answers.nouns import Place
from recorder.answers.queries import NodesLike, ObjectsLike
from recorder.model.reference import ObjectIdentity
from recorder.store.engine import Engine, reading
from recorder.store.tables import kind as kinds
from recorder.store.tables import node, object_

__all__ = ["LikeReader"]

KIND_WORDS = {"po": "pod", "no": "node", "ns": "namespace", "ds": "daemonset"}
"""Short names of kinds that people search by."""


class LikeReader:
    """Finds names of one log."""

    def __init__(self, engine: Engine, log: int) -> None:
        self._engine = engine
        self._log = log

    async def nodes(self, query: NodesLike) -> Sequence[str]:
        """Return nodes, those first that begin with the text."""
        name = node.c.name
        begins = name.startswith(query.text, autoescape=True)
        like = begins
        if query.anywhere:
            like = name.contains(query.text, autoescape=True)
        found = (
            select(name)
            .where(node.c.log_id == self._log, like)
            .order_by(case((begins, 0), else_=1), name)
            .limit(query.limit)
        )
        async with reading(self._engine, "search nodes") as connection:
            return (await connection.scalars(found)).all()

    async def objects(self, query: ObjectsLike) -> Sequence[ObjectIdentity]:
        """Return objects, the newest incarnation of each name."""
        text, within = query.text, query.within
        if within is not None and not within:
            return []
        name = object_.c.name
        found = (
            select(
                func.max(object_.c.object_id).label("number"),
                object_.c.kind_id,
                object_.c.namespace,
                name,
            )
            .where(
                object_.c.log_id == self._log,
                name.contains(text, autoescape=True),
            )
            .group_by(object_.c.kind_id, object_.c.namespace, name)
        )
        if within is not None:
            found = found.join_from(
                object_, kinds, kinds.c.kind_id == object_.c.kind_id
            ).where(_is_within(within))
        newest = found.subquery("newest")
        first = case(
            (newest.c.name.startswith(text, autoescape=True), 0), else_=1
        )
        chosen = (
            select(
                kinds.c.api_group,
                kinds.c.name.label("kind"),
                object_.c.namespace,
                object_.c.name,
                object_.c.uid,
            )
            .select_from(newest)
            .join(object_, object_.c.object_id == newest.c.number)
            .join(kinds, kinds.c.kind_id == newest.c.kind_id)
            .where(kinds.c.name != "Node")
            .order_by(first, newest.c.name, newest.c.kind_id)
            .limit(query.limit)
        )
        if query.kind is not None:
            kind = query.kind.lower()
            word = KIND_WORDS.get(kind, kind)
            chosen = chosen.where(
                func.lower(kinds.c.name).in_([word, word.removesuffix("s")])
            )
        async with reading(self._engine, "search objects") as connection:
            rows = (await connection.execute(chosen)).all()
        return [ObjectIdentity(*row) for row in rows]


def _is_within(places: Collection[Place]) -> ColumnElement[bool]:
    group, name = kinds.c.api_group, kinds.c.name
    anywhere = [(p.group, p.kind) for p in places if p.namespace is None]
    there = [tuple(p) for p in places if p.namespace is not None]
    return or_(
        tuple_(group, name).in_(anywhere),
        tuple_(group, name, object_.c.namespace).in_(there),
    )
