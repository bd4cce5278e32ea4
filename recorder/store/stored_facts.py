"""Reads stored facts, and the names that they refer to.

One statement returns facts and names. Each name is returned once and looked up
by its number: with a join, the planner would estimate the number of facts, and
read every object of the log if its estimate is too high.
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

COLUMNS = """f.position, f.index, f.at, f.observed_at, f.kind, f.detail,
      f.object_id, f.node_id, f.actor_id"""

OF_EXTENT = "f.derivation_id = :derivation and f.position + 0 <= :size"
"""The condition that facts are in an extent.

The sum keeps the planner from using the index of positions: nearly all are.
"""

OF_NODES = """f.node_id = any (array(select n.node_id from recorder.node n
      where n.log_id = :log and n.name = any (:nodes::text[])))"""
"""The condition that facts concern nodes."""

SEEN_AT = "coalesce(f.observed_at, f.at)"
"""When a fact was observed."""

BEFORE = "(f.at < :until or f.observed_at < :until)"
"""The condition that facts are of before the end of a window.

What a clock that is ahead claims is no later than it was observed.
"""

FACT, NODE, WORD, OBJECT = range(4)
"""What a row of a `named` statement is."""


def facts_where(*conditions: str, or_else: str = "") -> Statement:
    """Return the statement that reads facts ``f`` on any of the conditions.

    The conditions must exclude each other; that of the extent is added.
    ``or_else`` is a query of `COLUMNS` of other facts.
    """
    found = [
        f"select {COLUMNS} from recorder.fact f"
        f" where {OF_EXTENT} and {condition}"
        for condition in conditions
    ]
    return named(" union all ".join([*found, or_else] if or_else else found))


def named(found: str, *, before: str = "") -> Statement:
    """Return the statement that reads facts and the names in them.

    Args:
        found: a query that selects `COLUMNS`.
        before: common table expressions for it, each with a comma.
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
    """Makes facts of rows, and caches the names that they refer to."""

    def __init__(self, log: int, engine: Engine) -> None:
        self._log = log
        self._engine = engine
        self._details = detail_decoder(engine)
        self._requests = RequestReader(log, engine)
        self._nodes: dict[int | None, str | None] = {None: None}
        self._words: dict[int | None, str | None] = {None: None}
        self._objects: dict[int | None, ObjectIdentity | None] = {None: None}

    async def stored(self, rows: Sequence[Record]) -> list[StoredFact]:
        """Return facts in the order of the log, from a `named` statement.

        A fact whose detail is in an entry of a dropped day is left out: the
        archive has both.
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
            decoded = requests[position]
        else:
            decoded = self._details.decode(detail, kind)
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
                detail=decoded,
            ),
        )


class ExtentReader:
    """Executes statements on the facts of an extent."""

    action: ClassVar[str]
    """What could not be done, for errors."""

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
