"""Facts, and the steps of a replay, as lines for people."""

from collections.abc import Iterator

from recorder.facts import says, says_with_object
from recorder.model.fact import StoredFact
from recorder.projections import NodeState
from recorder.questions.replay import Replay, Step
from recorder.questions.sentences import counted
from recorder.render.table import Cell, Column, Kind
from recorder.render.text import plain

__all__ = ["COLUMNS", "replay_lines", "row"]

COLUMNS = (
    Column("AT", Kind.TIME),
    Column("ENTRY"),
    Column("NODE", rank=1),
    Column("OBJECT", rank=4),
    Column("FACT", rank=3),
    Column("ACTOR", rank=2),
    Column("WHAT"),
)


def row(stored: StoredFact) -> tuple[Cell, ...]:
    """Return a fact as the cells of a table."""
    fact = stored.fact
    return (
        stored.at,
        str(stored.entry),
        fact.node or "-",
        _named(stored),
        fact.kind.value,
        fact.actor or "-",
        says(fact),
    )


def _named(stored: StoredFact) -> str:
    thing = stored.fact.object
    if thing is None:
        return "-"
    middle = f"{thing.namespace}/" if thing.namespace else ""
    return f"{thing.kind.lower()}/{middle}{thing.name}"


def _state(state: NodeState) -> str:
    """Return the state of a node in a few words."""
    if not state.present:
        return "absent"
    if state.in_service:
        return "in service"
    words = [f"Ready={state.ready}"]
    if state.cordoned:
        words.append("cordoned")
    taints = len(state.blocked_by)
    if taints:
        words.append(counted(taints, "taint"))
    return ", ".join(words)


def replay_lines(replay: Replay) -> Iterator[tuple[Step, str]]:
    """Yield each step as text, in columns; a new day is said."""
    steps = replay.steps
    entry = max((len(str(s.stored.entry)) for s in steps), default=0)
    state = max((len(_state(s.state)) for s in steps), default=0)
    day = None
    for step in steps:
        at = step.stored.at
        cells = (
            at.strftime("%H:%M:%S.%f")[:-3],
            str(step.stored.entry).ljust(entry),
            _state(step.state).ljust(state),
            says_with_object(step.stored.fact),
        )
        line = plain("  ".join(cells))
        yield step, line if at.date() == day else f"{at:%Y-%m-%d}\n{line}"
        day = at.date()
