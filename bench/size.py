"""The size of an entry on disk: everything in the database that grows.

Heap and indices of the entries, the objects that they name, heads, batches,
words, and separately of facts: the growth of the schema over a play, divided
by the entries.
"""

from collections.abc import Mapping
from pathlib import Path

import asyncpg

from bench.halves import write_halves
from bench.measuring import Number, say, server_folder
from bench.mixed import played
from bench.tapes import write_tape

__all__ = ["bench"]

DOCUMENTS = {"events": 60_000, "pods": 30_000, "nodes": 15_000}
HALVES = 60_000
TARGETS = {"events": 430, "pods": 900, "nodes": 1_100, "jobs": 0}

SIZES = """
    select case when c.relname like 'entry%' then 'entry'
             when c.relname like 'fact%' then 'fact' else c.relname end
             as name,
           sum(pg_table_size(c.oid))::int8 as heap,
           sum(pg_indexes_size(c.oid))::int8 as indices
    from pg_class c
    where c.relnamespace = 'recorder'::regnamespace and c.relkind = 'r'
    group by 1
"""
PAYLOADS = """
    select sum(length(payload))::int8 from recorder.entry
"""

Sizes = Mapping[str, tuple[int, int]]


def bench(runs: int) -> list[Number]:
    del runs  # the same every time: what is written hangs on no clock
    numbers = []
    with server_folder() as folder:
        for mix, documents in DOCUMENTS.items():
            tape = folder / f"{mix}.tape.jsonl.zst"
            size = write_tape(tape, mix, documents=documents) / documents
            say(f"bytes: {documents} {mix} of {size:.0f} bytes on average")
            play = played(tape, mix, inspect)
            entries = play.recorder["entries"]
            numbers.extend(_numbers(mix, *play.found, entries=entries))
        numbers.extend(_of_halves(folder))
    return numbers


def _of_halves(folder: Path) -> list[Number]:
    """Measure a change of half new Events, half patches of Nodes."""
    tape = folder / "halves.tape.jsonl.zst"
    size = write_halves(tape, documents=HALVES) / HALVES
    say(f"bytes: {HALVES} changes of {size:.0f} bytes on average")
    play = played(tape, "events", inspect)
    before, after = play.found
    entries = play.recorder["entries"]
    parts = {
        f"{part} of {plural}": (after[name][place] - before[name][place])
        / entries
        for name, plural in (("entry", "entries"), ("fact", "facts"))
        for place, part in enumerate(("rows", "indices"))
    }
    return [
        Number(
            name="bytes of a change, half Events, half Nodes' status",
            unit="B",
            values=[sum(parts.values())],
            target="<= 400",
        ),
        *(
            Number(name=f"  {name}", unit="B", values=[value])
            for name, value in parts.items()
        ),
    ]


async def inspect(dsn: str) -> Sizes:
    connection = await asyncpg.connect(dsn)
    try:
        sizes = {
            name: (heap, indices)
            for name, heap, indices in await connection.fetch(SIZES)
        }
        sizes["(payloads)"] = await connection.fetchval(PAYLOADS), 0
    finally:
        await connection.close()
    return sizes


def _numbers(
    mix: str, before: Sizes, after: Sizes, *, entries: int
) -> list[Number]:
    def growth(name: str, part: int) -> float:
        old = before.get(name, (0, 0))[part]
        return (after[name][part] - old) / entries

    payload = growth("(payloads)", 0)
    facts = growth("fact", 0) + growth("fact", 1)
    tables = [n for n in after if n not in {"(payloads)", "fact"}]
    total = sum(growth(name, part) for name in tables for part in (0, 1))
    parts = {
        "payload": payload,
        "rest of the row": growth("entry", 0) - payload,
        "indices of entries": growth("entry", 1),
        "objects": growth("object", 0) + growth("object", 1),
        "heads": growth("object_head", 0) + growth("object_head", 1),
    }
    parts["all else"] = total - sum(parts.values())
    return [
        Number(
            name=f"bytes of an entry, {mix} only",
            unit="B",
            values=[total],
            target=f"<= {TARGETS[mix]:,}",
        ),
        *(
            Number(name=f"  {name}", unit="B", values=[value])
            for name, value in parts.items()
        ),
        Number(
            name=f"bytes of facts beside it, {mix} only",
            unit="B",
            values=[facts],
        ),
    ]
