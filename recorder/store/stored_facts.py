"""Facts as they lie in the database, and the names of what they refer to.

The names come with the facts, in one statement, but each once, and each
looked up by its number: joined, the planner would guess how many facts there
will be, and where it guesses too many read every object of the log.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import ClassVar

from recorder.model.fact import Fact, StoredFact
from recorder.model.facts import Detail
from recorder.model.reference import EntryName, ObjectIdentity
from recorder.store.codes import FACTS
from recorder.store.details import detail_decoder
from recorder.store.engine import Engine, fetch
from recorder.store.extent import Extent
from recorder.store.read_requests import RequestReader, is_in_its_entry
from recorder.store.statement import Record, Statement, question

__all__ = [
    "COLUMNS",
    "OF_EXTENT",
    "OF_NODES",
    "SEEN_AT",
    "ExtentReader",
    "FactNames",
    "named",
    "facts_where",
]

COLUMNS = """f.position, f.index, f.at, f.observed_at, f.kind, f.detail,
      f.object_id, f.node_id, f.actor_id"""

OF_EXTENT = "f.derivation_id = :derivation and f.position + 0 <= :size"
"""The condition that facts are of an extent.

A sum, so that the index of positions is not read for it: nearly all are.
"""

OF_NODES = """f.node_id = any (array(select n.node_id from recorder.node n
      where n.log_id = :log and n.name = any (:nodes::text[])))"""
"""The condition that they are of nodes."""

SEEN_AT = "coalesce(f.observed_at, f.at)"
"""When a fact was observed."""

FACT, NODE, WORD, OBJECT = range(4)
"""What a row of a `named` statement is."""


def facts_where(*conditions: str) -> Statement:
    """Return the statement that reads the facts of conditions on ``f``.

    They stand beside those of the extent; a fact may have one at most.
    """
    return named(
        " union all ".join(
            f"select {COLUMNS} from recorder.fact f"
            f" where {OF_EXTENT} and {condition}"
            for condition in conditions
        )
    )


def named(found: str, *, before: str = "") -> Statement:
    """Return the statement that reads facts and the names in them.

    Args:
        found: what selects `COLUMNS`.
        before: common table expressions that it needs, each with a comma.
    """
    return question(f"""
    with recursive {before} chosen as materialized ({found})
    select {FACT} as what, position, index, at, observed_at, kind, detail,
      object_id, node_id, actor_id,
      null as name, null as api_group, null as of_kind, null as namespace,
      null as uid
    from chosen
    union all
    select {NODE}, n.node_id, null, null, null, null, null, null, null, null,
      n.name, null, null, null, null
    from (select distinct node_id from chosen) t, lateral (
      select * from recorder.node where node_id = t.node_id offset 0) n
    union all
    select {WORD}, w.word_id, null, null, null, null, null, null, null, null,
      w.text, null, null, null, null
    from (select distinct actor_id from chosen) t, lateral (
      select * from recorder.word where word_id = t.actor_id offset 0) w
    union all
    select {OBJECT}, o.object_id, null, null, null, null, null, null, null,
      null, o.name, k.api_group, k.name, o.namespace, o.uid
    from (select distinct object_id from chosen) t, lateral (
      select * from recorder.object where object_id = t.object_id offset 0) o,
      lateral (
      select * from recorder.kind where kind_id = o.kind_id offset 0) k
    """)


class FactNames:
    """The names that facts refer to, as far as requested."""

    def __init__(self, log: int, engine: Engine) -> None:
        self._log = log
        self._engine = engine
        self._details = detail_decoder(engine)
        self._requests = RequestReader(log, engine)
        self._nodes: dict[int | None, str | None] = {None: None}
        self._words: dict[int | None, str | None] = {None: None}
        self._objects: dict[int | None, ObjectIdentity | None] = {None: None}

    async def stored(self, rows: Sequence[Record]) -> list[StoredFact]:
        """Return facts in the log's order, of rows of a `named` statement.

        Leaves out a fact whose detail is in an entry that is gone: its day
        was dropped, and the archive has both.
        """
        self._know(row for row in rows if row[0] != FACT)
        facts = [row for row in rows if row[0] == FACT]
        facts.sort(key=itemgetter(1, 2))
        await self._details.know(self._engine, map(itemgetter(6), facts))
        requests = await self._requests.at(
            [row[1] for row in facts if is_in_its_entry(row[5], row[6])]
        )
        return [
            self._stored(row, requests)
            for row in facts
            if row[1] in requests or not is_in_its_entry(row[5], row[6])
        ]

    def _know(self, rows: Iterable[Record]) -> None:
        for row in rows:
            what, number, *_, name, group, kind, namespace, uid = row
            if what == NODE:
                self._nodes[number] = name
            elif what == WORD:
                self._words[number] = name
            else:
                self._objects.setdefault(
                    number, ObjectIdentity(group, kind, namespace, name, uid)
                )

    def _stored(
        self, row: Record, requests: Mapping[int, Detail]
    ) -> StoredFact:
        position, index, at, observed_at, kind, detail, thing, node, actor = (
            row[1:10]
        )
        if is_in_its_entry(kind, detail):
            told = requests[position]
        else:
            told = self._details.decode(detail, kind)
        return StoredFact(
            entry=EntryName(self._log, position),
            index=index,
            observed_at=observed_at or at,
            fact=Fact(
                kind=FACTS[kind],
                node=self._nodes[node],
                object=self._objects[thing],
                occurred_at=None if observed_at is None else at,
                actor=self._words[actor],
                detail=told,
            ),
        )


class ExtentReader:
    """Puts statements about the facts of an extent."""

    action: ClassVar[str]
    """What could not be done, where one fails."""

    def __init__(self, engine: Engine, extent: Extent) -> None:
        self._engine = engine
        self._extent = extent

    async def _ask(
        self, statement: Statement, **values: object
    ) -> Sequence[Record]:
        return await fetch(
            self._engine,
            self.action,
            statement,
            **self._extent.named_by(statement),
            **values,
        )

    async def _texts(
        self, statement: Statement, **values: object
    ) -> Sequence[str]:
        return [text for (text,) in await self._ask(statement, **values)]
