"""Entries in words: the text of their facts, or else the changed fields.

One query reads the facts of a page. Documents are compared only for updates
without facts, those of Nodes first.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from recorder.answers.changes import document_of, visible_changes
from recorder.answers.entry import ask_entry, previous_of
from recorder.answers.nouns import is_about_events
from recorder.answers.ports import Reading
from recorder.answers.queries import FactQuery, Purpose
from recorder.facts import says
from recorder.facts.texts import cut
from recorder.model.entry import Entry, Operation
from recorder.model.fact import StoredFact
from recorder.model.facts import ConditionChanged
from recorder.model.observation import NODES

NAMED_MAX = 3
"""Facts or fields named in one line."""

COMPARED_MAX = 100
"""Updates of a page whose documents are read and compared."""

READY = "Ready"
SILENT = "only heartbeats and versions"


async def worded(reading: Reading, lines: Sequence[Entry]) -> Sequence[Entry]:
    """Return entries with ``words`` set, unless their document has a text."""
    silent = [line for line in lines if not _speaks(line)]
    by_position: dict[int, list[StoredFact]] = {}
    entries = {line.entry.position: line.recorded_at for line in silent}
    said = FactQuery(purpose=Purpose.ENTRIES, entries=entries)
    for stored in await reading.facts(said):
        by_position.setdefault(stored.entry.position, []).append(stored)
    words = {
        position: _few([says(one.fact) for one in sorted(facts, key=_order)])
        for position, facts in by_position.items()
    }
    unsaid = [
        line
        for line in silent
        if line.entry.position not in words
        and line.operation is Operation.MODIFIED
    ]
    unsaid.sort(key=lambda line: line.resource != NODES)
    for line in unsaid[:COMPARED_MAX]:
        words[line.entry.position] = await _fields(reading, line)
    return [
        replace(line, words=words.get(line.entry.position, ""))
        for line in lines
    ]


def _order(stored: StoredFact) -> bool:
    """Sort changes of Ready first; keep the order of the others."""
    detail = stored.fact.detail
    return not isinstance(detail, ConditionChanged) or detail.type != READY


def _speaks(line: Entry) -> bool:
    return is_about_events(line.resource) or line.source == "recorder"


async def _fields(reading: Reading, line: Entry) -> str:
    """Return which fields an update changed."""
    found = await ask_entry(reading, line.entry)
    before = await previous_of(reading, found)
    if before is None:
        return ""
    kind = "" if line.identity is None else line.identity.kind
    old, new = document_of(before, kind), document_of(found, kind)
    changed = visible_changes(old, new, all_fields=False)
    paths = [str(change) for change in changed]
    return f"changed {_few(paths)}" if paths else f"changed {SILENT}"


def _few(parts: Sequence[str]) -> str:
    left = len(parts) - NAMED_MAX
    named = "; ".join(cut(part) or "" for part in parts[:NAMED_MAX])
    return f"{named}; and {left} more" if left > 0 else named
