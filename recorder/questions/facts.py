"""Facts, and the state of a node, as answers list them."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import UNSET, UnsetType, field

from recorder.facts import says
from recorder.model.document import Document
from recorder.model.fact import FactKind, StoredFact
from recorder.model.facts import Detail
from recorder.model.outcomes import Role
from recorder.model.reference import EntryName, ObjectIdentity
from recorder.model.state import Scalar
from recorder.projections import NodeState

__all__ = ["ListedFact", "ShownNode", "listed_fact", "shown_node"]


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
