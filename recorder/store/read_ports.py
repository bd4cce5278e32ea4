"""Reads what was claimed of ports that flap, without most of the claims.

An index leads to the claims of one port in order: the statement steps from
port to port, and from beat to beat (see `recorder.facts.flaps`). Of beats in
which a port flaps, and that follow each other, it reads the first two claims
and the last one; of others all.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from recorder.facts.bearing import Port, port_of
from recorder.facts.flaps import BEAT_SECONDS, CLAIMS_MAX, Run, folded
from recorder.model.fact import StoredFact
from recorder.store.stored_facts import (
    BEFORE,
    COLUMNS,
    OF_EXTENT,
    OF_NODES,
    named,
)

IN_TIME: Final = f"""f.at >= :since
      and f.at < :until::timestamptz + interval '1 day' and {BEFORE}"""
"""The condition that facts are in a window, however far a clock is ahead.

A day at most, so that the index of times leads to them.
"""

OF_PORT: Final = f"{OF_EXTENT} and f.bearing = #port and {IN_TIME}"
BEAT: Final = f"cast(floor(extract(epoch from f.at) / {BEAT_SECONDS}) as int8)"
OF_BEAT: Final = f"""recorder.fact f where f.value = b.value and {OF_PORT}
        and f.at >= to_timestamp({BEAT_SECONDS} * b.beat)
        and f.at < to_timestamp({BEAT_SECONDS} * (b.beat + 1))"""

FEW: Final = 16
"""Claims about ports of a node that are read without looking for flaps: of a
node whose port flaps they are read in vain."""

OF_PORTS: Final = f"""select {COLUMNS} from recorder.node n, lateral (
      select * from recorder.fact f where f.node_id = n.node_id and {OF_PORT}
      limit {FEW + 1}) f
    where n.log_id = :log and n.name = any (:nodes::text[])"""
"""The claims about ports of nodes, of each node one more than few at most."""

OF_PORTS_ARCHIVED: Final = f"""select {COLUMNS} from recorder.fact f
    where {OF_NODES} and {OF_PORT}"""
"""All claims about ports of nodes."""

OF_CROWDED_ARCHIVED: Final = named(
    f"""select {COLUMNS} from recorder.fact f
    where {OF_PORT} and f.node_id in (
      select n.node_id from recorder.node n join asked on asked.name = n.name)
    """,
    before="asked as (select unnest(:nodes::text[]) as name),",
)
"""In place of `OF_CROWDED`: DuckDB takes no such steps."""

ALONE, FIRST, SECOND, LAST = range(4)
"""What a claim is of a run of beats in which its port flaps."""

# In place of the index of a fact in its entry, which for claims is always 0.
MARKED: Final = COLUMNS.replace("f.index", "f.part as index")

OF_CROWDED = named(
    f"""
    select {MARKED} from run b, lateral (
      select f.*, {ALONE} as part from {OF_BEAT}
        and b.claims <= {CLAIMS_MAX}
      union all
      (select f.*, {FIRST} from {OF_BEAT} and b.begins
        order by f.at, f.position limit 1)
      union all
      (select f.*, {SECOND} from {OF_BEAT} and b.begins
        order by f.at, f.position offset 1 limit 1)
      union all
      (select f.*, {LAST} from {OF_BEAT} and b.ends
        order by f.at desc, f.position desc limit 1)) f
    """,
    before=f"""
    edge as materialized (
      select left(md5(n.name), 16) as lower,
        left(md5(n.name), 16) || 'g' as upper
      from unnest(:nodes::text[]) n (name)
    ), port as (
      select t.value, e.upper from edge e, lateral (
        select f.value from recorder.fact f
        where f.value > e.lower and f.value < e.upper and {OF_PORT}
        order by f.value limit 1) t
      union all
      select t.value, p.upper from port p, lateral (
        select f.value from recorder.fact f
        where f.value > p.value and f.value < p.upper and {OF_PORT}
        order by f.value limit 1) t
    ), beat as (
      select p.value, t.beat from port p, lateral (
        select {BEAT} as beat from recorder.fact f
        where f.value = p.value and {OF_PORT} order by f.at limit 1) t
      union all
      select b.value, t.beat from beat b, lateral (
        select {BEAT} as beat from recorder.fact f
        where f.value = b.value and {OF_PORT}
          and f.at >= to_timestamp({BEAT_SECONDS} * (b.beat + 1))
        order by f.at limit 1) t
    ), counted as (
      select b.value, b.beat, (select count(*) from (
        select from {OF_BEAT} limit {CLAIMS_MAX + 1}) t) as claims
      from beat b
    ), run as (
      select *, claims > {CLAIMS_MAX} and not coalesce(
          lag(beat) over w = beat - 1
          and lag(claims) over w > {CLAIMS_MAX}, false) as begins,
        claims > {CLAIMS_MAX} and not coalesce(
          lead(beat) over w = beat + 1
          and lead(claims) over w > {CLAIMS_MAX}, false) as ends
      from counted window w as (partition by value order by beat)
    ),""",
)
"""Of some nodes; keys are those of `recorder.facts.marks`."""


def claims_of(facts: Iterable[StoredFact]) -> Sequence[StoredFact]:
    """Return the facts of the statement as they are stored, runs folded."""
    found: list[StoredFact] = []
    runs: dict[Port | None, list[StoredFact]] = {}
    for marked in sorted(facts, key=lambda one: (one.at, one.entry.position)):
        stored = replace(marked, index=0)
        if marked.index == ALONE:
            found.append(stored)
            continue
        run = runs.setdefault(port_of(stored.fact), [])
        run.append(stored)
        if marked.index == LAST:
            found += folded(Run(*run))
            run.clear()
    return found


def crowded(facts: Iterable[StoredFact]) -> list[str]:
    """Return the nodes of whose ports more than few claims are there."""
    claims = Counter(
        port.node for one in facts if (port := port_of(one.fact)) is not None
    )
    return [node for node, count in claims.items() if count > FEW]
