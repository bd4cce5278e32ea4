"""Reading: the names that the entries and facts of one day refer to."""

from typing import Any

import asyncpg

from recorder.model.columns import numbers_of
from recorder.store.read_day import Day

__all__ = ["names_of_day"]

FACTS = """(
        select f.* from recorder.fact f join recorder.derivation d
          on d.derivation_id = f.derivation_id
        where d.log_id = $1 and d.state = 'current'
          and f.recorded_at >= $2 and f.recorded_at < $3) f"""

OBJECTS = f"""
    select o.object_id, o.kind_id, k.api_group, k.name as kind, o.namespace,
      o.name, o.uid
    from recorder.object o join recorder.kind k on k.kind_id = o.kind_id
    where o.log_id = $1 and o.object_id in (
      select object_id from recorder.entry
      where log_id = $1 and recorded_at >= $2 and recorded_at < $3
      union select object_id from {FACTS}
      union select owner_id from {FACTS})
    order by o.object_id
"""
OF_NODES = f"""
    select node_id, name from recorder.node
    where log_id = $1 and node_id in (
      select node_id from recorder.entry
      where log_id = $1 and recorded_at >= $2 and recorded_at < $3
      union select node_id from {FACTS})
    order by node_id
"""
BY_ENTRIES = " union ".join(
    f"""select {number} from recorder.entry
      where log_id = $1 and recorded_at >= $2 and recorded_at < $3"""
    for number in numbers_of("word")
)
OF_WORDS = f"""
    select word_id, text from recorder.word where word_id in (
      {BY_ENTRIES}
      union select actor_id from {FACTS}
      union select topic_id from {FACTS})
    order by word_id
"""


async def names_of_day(
    connection: asyncpg.Connection, log: int, day: Day
) -> dict[str, list[tuple[Any, ...]]]:
    """Return the objects, nodes and words that the day's rows name."""
    asked = log, day.lower, day.upper
    return {
        name: [tuple(row) for row in await connection.fetch(query, *asked)]
        for name, query in (
            ("objects", OBJECTS),
            ("nodes", OF_NODES),
            ("words", OF_WORDS),
        )
    }
