"""What is known to have happened in an outage, and its words.

The lists that end an outage show which objects are new, changed or gone, and
what was read afterwards from the past. What came and went is not known.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import orjson

from recorder.answers.coverage import few
from recorder.answers.kinds import word_for
from recorder.answers.nouns import Part, Selection, is_about_events
from recorder.answers.ports import Reading
from recorder.answers.queries import EntryQuery
from recorder.answers.text.table import Cell, Column, Kind
from recorder.facts.classify.times import moment
from recorder.facts.coverage.hole import Hole
from recorder.facts.coverage.outages import (
    Outage,
    OutageChange,
    with_changes,
)
from recorder.model.entry import Entry, Operation
from recorder.model.moment import FIRST

READ_MAX: Final = 2_000
"""Entries of the lists after one outage that are read."""

NAMED_MAX: Final = 100
SHOWN_MAX: Final = 5

KNOWN = (Operation.LISTED, Operation.ABSENT, Operation.RECOVERED)
NAMELESS: Final = frozenset({"Lease", "ReplicaSet"})
"""Kinds that change all the time, or only with others that are named; Events
are not either."""

MOMENT = timedelta(microseconds=1)


async def read_changes(
    reading: Reading, outages: Sequence[Outage]
) -> Sequence[Outage]:
    """Return outages with what is known to have changed in each."""
    return [await _changed(reading, one) for one in outages]


async def _changed(reading: Reading, outage: Outage) -> Outage:
    if outage.until is None:
        return outage
    selection = Selection(
        operations=KNOWN, since=outage.since, until=outage.until + MOMENT
    )
    query = EntryQuery(selection, Part.RESOURCE | Part.OBJECT | Part.DOCUMENT)
    resources, begin = set(outage.resources), outage.since or FIRST
    after = outage.gaps[0].position
    found: dict[str, OutageChange] = {}
    more = read = 0
    async for page in reading.pages(query, after=after):
        for line in page:
            identity = line.identity
            if line.resource not in resources or identity is None:
                continue
            if is_about_events(line.resource) or identity.kind in NAMELESS:
                more += 1
                continue
            parts = (
                word_for(identity.group, identity.kind),
                identity.namespace,
                identity.name,
            )
            name = "/".join(part for part in parts if part)
            if name not in found and len(found) >= NAMED_MAX:
                more += 1
                continue
            found[name] = OutageChange(
                object=name, change=_change(line, begin), entry=line.entry
            )
        read += len(page)
        if read >= READ_MAX:
            break
    return with_changes(outage, list(found.values()), more)


def _change(line: Entry, begin: datetime) -> str:
    if line.operation is Operation.ABSENT:
        return "gone"
    document = orjson.loads(line.raw or b"{}")
    created = moment(document.get("metadata", {}).get("creationTimestamp"))
    # Kubernetes writes whole seconds: of the first one it is not known.
    is_new = created is not None and created >= begin
    return "new" if is_new else "changed"


OUTAGE_COLUMNS = (
    Column("FROM", Kind.TIME),
    Column("AGE", Kind.AGE, rank=2),
    Column("TO", Kind.TIME, rank=3),
    Column("LENGTH"),
    Column("RESOURCES", rank=1),
    Column("REASON"),
)


def length_of(outage: Outage) -> str:
    """Return how long an outage was, in words."""
    length = outage.length
    if length is None:
        return "open"
    seconds = length.total_seconds()
    if seconds < 1:
        return "<1s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "m"), (seconds, "s"))
    return "".join(f"{n}{unit}" for n, unit in parts if n)


def outage_cells(outage: Outage) -> Sequence[Cell]:
    """Return an outage as a row of the table."""
    return (
        outage.since or "",
        outage.since or "",
        outage.until or "open",
        length_of(outage),
        len(outage.resources) or "all",
        outage.reason,
    )


def unrecorded_cells(
    group: tuple[Hole, Sequence[str]],
) -> Sequence[Cell]:
    """Return holes of one reason that no entry records, as a row."""
    hole, resources = group
    outage = Outage(
        since=hole.since,
        until=hole.until,
        reason=hole.reason,
        gaps=(),
        resources=resources,
    )
    return outage_cells(outage)


def outage_lines(outage: Outage) -> list[str]:
    """Return what is known of an outage, and what may be missing."""
    head = f"{length_of(outage)} from {outage.gaps[0]}"
    known = changed_in(outage) or "nothing"
    lines = [f"{head}, {few(outage.resources)}: known to differ: {known}"]
    lines += [f"  may be missing: {one}" for one in possible_of(outage)]
    return lines


def changed_in(outage: Outage) -> str:
    """Return the first objects that an outage changed, and how many more."""
    named = [
        f"{one.object} ({one.change})" for one in outage.changed[:SHOWN_MAX]
    ]
    left = len(outage.changed) - len(named) + outage.more_changed
    return ", ".join([*named, *([f"{left} more"] if left else [])])


def possible_of(outage: Outage) -> list[str]:
    """Return what may be missing, the same of several resources once."""
    by_text: dict[str, list[str]] = {}
    for one in outage.possible:
        resource, _, text = one.partition(": ")
        by_text.setdefault(text, []).append(resource)
    return [
        f"{text} ({few(resources)})" for text, resources in by_text.items()
    ]
