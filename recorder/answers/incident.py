"""One incident, by the id of a verdict.

The id is the name of an entry, which has the time and the node, so that only
this part of the log is judged to find it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from recorder.answers.entry import NoEntryError, ask_entry, facts_of
from recorder.answers.incidents import Incidents, ask_incidents
from recorder.answers.loading.fleet import LOOKBACK
from recorder.answers.node_questions import IncidentsQuestion, WhyQuestion
from recorder.answers.ports import Reading
from recorder.answers.why import ask_why
from recorder.explain.knowledge import Knowledge
from recorder.explain.verdict import Verdict
from recorder.model.errors import NotFoundError
from recorder.model.reference import EntryName
from recorder.model.window import Window

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
    """Return only the incident that a verdict belongs to.

    Judged until a day after it happened, or until the end of the log.

    Raises:
        NotFoundError: the log has no such entry, or no verdict has it.
    """
    at, nodes = await _place(reading, name)
    verdict = await _verdict(reading, name, (at, nodes), knowledge, now=now)
    began = min(at, verdict.began_at)
    end = at + LOOKBACK
    last = reading.log.observed_at
    is_over = last is not None and last >= end
    question = IncidentsQuestion(
        window=Window(began - MARGIN, end if is_over else None)
    )
    found = await ask_incidents(reading, question, knowledge, now=now)
    chosen = [one for one in found.incidents if str(name) in one.verdicts]
    if not chosen:
        raise _none(reading, name)
    return Incidents(incidents=chosen, coverage=found.coverage)


async def _verdict(
    reading: Reading,
    name: EntryName,
    place: tuple[datetime, Sequence[str]],
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Verdict:
    at, nodes = place
    around = Window(at - MARGIN, at + LOOKBACK)
    for node in nodes:
        why = await ask_why(
            reading, WhyQuestion(node=node, window=around), knowledge, now=now
        )
        for verdict in why.verdicts:
            if verdict.id == str(name):
                return verdict
    raise _none(reading, name)


async def _place(
    reading: Reading, name: EntryName
) -> tuple[datetime, Sequence[str]]:
    """Return when an entry was observed, and the nodes that it concerns.

    From its facts, if any: an audit entry has no node, but its facts have;
    and a reader may have access to the facts of a Node without its documents.
    """
    log = reading.log
    if name.log == log.id and 0 < name.position <= log.size:
        facts = await facts_of(reading, name)
        nodes = {one.fact.node for one in facts if one.fact.node}
        if nodes:
            return facts[0].observed_at, sorted(nodes)
    try:
        line = await ask_entry(reading, name)
    except NoEntryError as exc:
        raise _none(reading, name) from exc
    return line.observed_at, [] if line.node is None else [line.node]


def _none(reading: Reading, name: EntryName) -> NoIncidentError:
    return NoIncidentError(
        f"there is no incident {name} in {reading.log.named}",
        advice="`recorder incidents -o json` lists their ids",
    )
