"""Reading: the names that the entries and facts of one day refer to."""

from typing import Any

import asyncpg

from recorder.model.columns import numbers_of
from recorder.store.read_day import Day
from recorder.store.statement import Statement

__all__ = ["names_of_day"]

FACTS = """(
        select f.* from recorder.fact f join recorder.derivation d
          on d.derivation_id = f.derivation_id
        where d.log_id = :log and d.state = 'current'
          and f.recorded_at >= :lower and f.recorded_at < :upper) f"""

OBJECTS = Statement.of(f"""
    select o.object_id, o.kind_id, k.api_group, k.name as kind, o.namespace,
      o.name, o.uid
    from recorder.object o join recorder.kind k on k.kind_id = o.kind_id
    where o.log_id = :log and o.object_id in (
      select object_id from recorder.entry
      where log_id = :log and recorded_at >= :lower and recorded_at < :upper
      union select object_id from {FACTS}
      union select owner_id from {FACTS})
    order by o.object_id
""")
OF_NODES = Statement.of(f"""
    select node_id, name from recorder.node
    where log_id = :log and node_id in (
      select node_id from recorder.entry
      where log_id = :log and recorded_at >= :lower and recorded_at < :upper
      union select node_id from {FACTS})
    order by node_id
""")
BY_ENTRIES = " union ".join(
    f"""select {number} from recorder.entry
      where log_id = :log and recorded_at >= :lower and recorded_at < :upper"""
    for number in numbers_of("word")
)
OF_WORDS = Statement.of(f"""
    select word_id, text from recorder.word where word_id in (
      {BY_ENTRIES}
      union select actor_id from {FACTS}
      union select topic_id from {FACTS})
    order by word_id
""")


async def names_of_day(
    connection: asyncpg.Connection, log: int, day: Day
) -> dict[str, list[tuple[Any, ...]]]:
    """Return the objects, nodes and words that the day's rows name."""
    asked = {"log": log, "lower": day.lower, "upper": day.upper}
    return {
        name: [tuple(row) for row in await names.fetch(connection, **asked)]
        for name, names in (
            ("objects", OBJECTS),
            ("nodes", OF_NODES),
            ("words", OF_WORDS),
        )
    }
