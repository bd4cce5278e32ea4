"""Whether facts belong to the entries of their log, judged by rows alone."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

__all__ = ["FACTS", "fact_problems"]

FACTS = """
    select f.derivation_id, f.position, f.index, f.recorded_at,
      coalesce(f.observed_at, f.at) as observed_at, d.state, d.built_to,
      (f.object_id is not null and o.object_id is null)
      or (f.owner_id is not null and u.object_id is null)
      or (f.node_id is not null and n.node_id is null)
      or (f.actor_id is not null and w.word_id is null)
      or (f.topic_id is not null and t.word_id is null) as nameless
    from recorder.fact f
    join recorder.derivation d on d.derivation_id = f.derivation_id
    left join recorder.object o on o.object_id = f.object_id
      and o.log_id = d.log_id
    left join recorder.object u on u.object_id = f.owner_id
      and u.log_id = d.log_id
    left join recorder.node n on n.node_id = f.node_id
      and n.log_id = d.log_id
    left join recorder.word w on w.word_id = f.actor_id
    left join recorder.word t on t.word_id = f.topic_id
    where d.log_id = $1 order by f.derivation_id, f.position, f.index
"""

Row = Any


def fact_problems(
    entries: Sequence[Row], facts: Sequence[Row]
) -> Iterator[str]:
    """Yield what is wrong with facts: a whole log has none without entry."""
    there = {row["position"]: row for row in entries}
    by_entry = groupby(facts, lambda f: (f["derivation_id"], f["position"]))
    for (derivation, position), group in by_entry:
        own = list(group)
        name = f"facts of entry {position} by derivation {derivation}"
        entry = there.get(position)
        if entry is None:
            yield f"{name} have no entry"
            continue
        if [fact["index"] for fact in own] != list(range(len(own))):
            yield f"{name} are not numbered from 0"
        for fact in own:
            for wrong in _wrong(fact, entry):
                yield f"{name} {wrong}"


def _wrong(fact: Row, entry: Row) -> Iterator[str]:
    if fact["nameless"]:
        yield "hold a number without a name"
    for column in ("recorded_at", "observed_at"):
        if fact[column] != entry[column]:
            yield f"have another {column}"
    end = fact["built_to"]
    if (
        fact["state"] == "current"
        and end is not None
        and fact["position"] > end
    ):
        yield "are behind its end"
