"""Reading: names by a part of them, for who searches.

A text is found anywhere in a name by looking at all of a log's, of which
there are hundreds of thousands at most; the statement's time bounds it.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, case, func, or_, select, tuple_

from recorder.model.reference import ObjectIdentity
from recorder.questions.ports import Place, Places
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

    async def nodes(
        self, text: str, *, limit: int, anywhere: bool
    ) -> Sequence[str]:
        """Return nodes, those first that begin with the text."""
        name = node.c.name
        like = name.contains(text, autoescape=True)
        if not anywhere:
            like = name.startswith(text, autoescape=True)
        first = case((name.startswith(text, autoescape=True), 0), else_=1)
        query = (
            select(name)
            .where(node.c.log_id == self._log, like)
            .order_by(first, name)
            .limit(limit)
        )
        async with reading(self._engine, "search nodes") as connection:
            return (await connection.scalars(query)).all()

    async def objects(
        self,
        text: str,
        *,
        kind: str | None,
        limit: int,
        within: Places,
    ) -> Sequence[ObjectIdentity]:
        """Return objects, the newest incarnation of each name."""
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
        query = (
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
            .limit(limit)
        )
        if kind is not None:
            word = KIND_WORDS.get(kind.lower(), kind.lower())
            query = query.where(
                func.lower(kinds.c.name).in_([word, word.removesuffix("s")])
            )
        async with reading(self._engine, "search objects") as connection:
            rows = (await connection.execute(query)).all()
        return [ObjectIdentity(*row) for row in rows]


def _is_within(places: Collection[Place]) -> ColumnElement[bool]:
    group, name = kinds.c.api_group, kinds.c.name
    anywhere = [(p.group, p.kind) for p in places if p.namespace is None]
    there = [tuple(p) for p in places if p.namespace is not None]
    return or_(
        tuple_(group, name).in_(anywhere),
        tuple_(group, name, object_.c.namespace).in_(there),
    )
