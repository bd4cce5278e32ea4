"""One incident, by the id of a verdict: looked for where it must be.

The id is the name of an entry, and the entry says when and on which node, so
that not the whole log is judged to find it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from recorder.errors import NotFoundError
from recorder.explain.verdict import Verdict
from recorder.knowledge import Knowledge
from recorder.model.reference import EntryName
from recorder.model.window import Window
from recorder.questions.entry import NoEntryError, ask_entry, facts_of
from recorder.questions.incidents import (
    Incidents,
    IncidentsQuestion,
    ask_incidents,
)
from recorder.questions.loading.nodes import LOOKBACK
from recorder.questions.ports import Line, Reading
from recorder.questions.why import WhyQuestion, ask_why

__all__ = ["NoIncidentError", "ask_incident", "ask_verdict"]

MARGIN = timedelta(minutes=1)


class NoIncidentError(NotFoundError):
    """There is no such incident."""

    code = "not_found.incident"


async def ask_incident(
    reading: Reading,
    name: EntryName,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Incidents:
    """Find the incident that a verdict belongs to; return it alone.

    Judged to a day after it happened, or to the end of the log.

    Raises:
        NotFoundError: the log has no such entry, or it is no verdict's.
    """
    verdict = await ask_verdict(reading, name, knowledge, now=now)
    line = await ask_entry(reading, name)
    began = min(line.observed_at, verdict.began_at)
    end: datetime | None = line.observed_at + LOOKBACK
    last = reading.log.observed_at
    if last is None or end is None or last < end:
        end = None
    question = IncidentsQuestion(window=Window(began - MARGIN, end))
    found = await ask_incidents(reading, question, knowledge, now=now)
    chosen = [
        one
        for one in found.incidents
        if any(verdict.id == str(name) for verdict in one.verdicts)
    ]
    if not chosen:
        raise _none(reading, name)
    return Incidents(
        window=found.window, incidents=chosen, coverage=found.coverage
    )


async def ask_verdict(
    reading: Reading,
    name: EntryName,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Verdict:
    """Find the verdict of an id, on its node.

    Raises:
        NoIncidentError: there is none.
    """
    try:
        line = await ask_entry(reading, name)
    except NoEntryError as exc:
        raise _none(reading, name) from exc
    around = Window(line.observed_at - MARGIN, line.observed_at + LOOKBACK)
    for node in await _nodes_of(reading, line):
        why = await ask_why(
            reading, WhyQuestion(node=node, window=around), knowledge, now=now
        )
        for verdict in why.verdicts:
            if verdict.id == str(name):
                return verdict
    raise _none(reading, name)


async def _nodes_of(reading: Reading, line: Line) -> Sequence[str]:
    """Return the nodes that an entry is about, by what it tells of them.

    An audit record belongs to no node, and tells of the one it names.
    """
    if line.node is not None:
        return [line.node]
    facts = await facts_of(reading, line.entry)
    return sorted({one.fact.node for one in facts if one.fact.node})


def _none(reading: Reading, name: EntryName) -> NoIncidentError:
    return NoIncidentError(
        f"there is no incident {name} in log {reading.log.id}",
        advice="`recorder incidents -o json` lists their ids",
    )
