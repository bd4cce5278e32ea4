"""Facts, and the state of a node, as answers list them."""

from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import UNSET, UnsetType, field

from recorder.answers.replay import Replay, Step
from recorder.answers.sentences import counted
from recorder.answers.text.lines import plain
from recorder.answers.text.table import Cell, Column, Kind
from recorder.facts import says, says_with_object
from recorder.facts.projections import NodeState
from recorder.model.document import Document
from recorder.model.fact import Fact, FactKind, StoredFact
from recorder.model.facts import Claimed, Detail
from recorder.model.outcomes import Role
from recorder.model.reference import EntryName, ObjectIdentity
from recorder.model.state import Scalar


class ShownNode(Document, frozen=True, kw_only=True):
    """A node at one moment."""

    present: bool
    uid: str | None
    boot_id: str | None
    ready: str | None
    """`True`, `False` or `Unknown`; null where nothing says so."""

    cordoned: bool
    in_service: bool
    service: str = field(name="_service")
    taints: Sequence[str]
    """As `KEY:EFFECT`."""

    conditions: Mapping[str, str | None]
    """Status by type."""

    labels: Mapping[str, str] = field(name="_labels")
    fields: Mapping[str, Scalar] = field(name="_fields")
    """Machine, kernel and other versions."""


class ListedFact(Document, frozen=True, kw_only=True):
    """A fact; ``state`` and ``role`` where the answer has them."""

    entry: EntryName
    index: int
    fact: FactKind
    node: str | None
    object: ObjectIdentity | None
    occurred_at: datetime | None
    observed_at: datetime
    actor: str | None
    says: str
    detail: Detail
    state: ShownNode | UnsetType = UNSET
    role: Role | UnsetType = UNSET


def listed_fact(
    stored: StoredFact,
    *,
    state: ShownNode | UnsetType = UNSET,
    role: Role | UnsetType = UNSET,
) -> ListedFact:
    """Return a fact as an answer lists it."""
    fact = stored.fact
    return ListedFact(
        entry=stored.entry,
        index=stored.index,
        fact=fact.kind,
        node=fact.node,
        object=fact.object,
        occurred_at=fact.occurred_at,
        observed_at=stored.observed_at,
        actor=fact.actor,
        says=says(fact),
        detail=fact.detail,
        state=state,
        role=role,
    )


def shown_node(state: NodeState, service: str = "") -> ShownNode:
    """Return a node after some of its facts."""
    return ShownNode(
        present=state.present,
        uid=state.uid,
        boot_id=state.boot_id,
        ready=state.ready,
        cordoned=state.cordoned,
        in_service=state.in_service,
        service=service,
        taints=sorted(state.taints),
        conditions={
            name: condition.status
            for name, condition in sorted(state.conditions.items())
        },
        labels=state.labels,
        fields=state.fields,
    )


COLUMNS = (
    Column("AT", Kind.TIME),
    Column("ENTRY"),
    Column("NODE", rank=1),
    Column("OBJECT", rank=4),
    Column("FACT", rank=3),
    Column("ACTOR", rank=2),
    Column("WHAT"),
)


def row(stored: StoredFact, types: Container[str]) -> tuple[Cell, ...]:
    """Return a fact as a row of the table, by the known types of claims."""
    fact = stored.fact
    return (
        stored.at,
        str(stored.entry),
        fact.node or "-",
        _named(stored),
        fact.kind.value,
        fact.actor or "-",
        says(fact) + of_unknown_type(fact, types),
    )


def of_unknown_type(fact: Fact, types: Container[str]) -> str:
    """Return what to add to the words of a claim whose type has no rules."""
    claim = fact.detail
    is_known = not isinstance(claim, Claimed) or claim.type in types
    return "" if is_known else " (unknown type)"


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
    """Yield each step as text in columns; a new day has its date above."""
    steps = replay.steps
    entry = max((len(str(s.stored.entry)) for s in steps), default=0)
    state = max((len(_state(s.state)) for s in steps), default=0)
    day = None
    for step in steps:
        at, fact = step.stored.at, step.stored.fact
        cells = (
            at.strftime("%H:%M:%S.%f")[:-3],
            str(step.stored.entry).ljust(entry),
            _state(step.state).ljust(state),
            says_with_object(fact) + of_unknown_type(fact, replay.types),
        )
        line = plain("  ".join(cells))
        yield step, line if at.date() == day else f"{at:%Y-%m-%d}\n{line}"
        day = at.date()
