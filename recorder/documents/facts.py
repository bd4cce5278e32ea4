"""Facts, and the state of a node, as the public interface shows them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Self

from msgspec import UNSET, UnsetType

from recorder.facts import says
from recorder.model.document import Document
from recorder.model.fact import StoredFact
from recorder.model.facts import Detail
from recorder.model.outcomes import Role
from recorder.model.reference import ObjectIdentity
from recorder.projections import NodeState
from recorder.questions.replay import Step

__all__ = ["FactDocument"]


class SubjectDocument(Document, frozen=True, kw_only=True):
    """The object that a fact is about."""

    group: str
    kind: str
    namespace: str
    name: str
    uid: str | None

    @classmethod
    def of(cls, identity: ObjectIdentity) -> Self:
        """Return the document of an object."""
        return cls(
            group=identity.group,
            kind=identity.kind,
            namespace=identity.namespace,
            name=identity.name,
            uid=identity.uid,
        )


class NodeStateDocument(Document, frozen=True, kw_only=True):
    """A node as it was."""

    present: bool
    uid: str | None
    boot_id: str | None
    ready: str | None
    cordoned: bool
    in_service: bool
    taints: Sequence[str]
    conditions: Mapping[str, str | None]

    @classmethod
    def of(cls, state: NodeState) -> Self:
        """Return the document of the state of a node."""
        return cls(
            present=state.present,
            uid=state.uid,
            boot_id=state.boot_id,
            ready=state.ready,
            cordoned=state.cordoned,
            in_service=state.in_service,
            taints=sorted(state.taints),
            conditions={
                name: condition.status
                for name, condition in sorted(state.conditions.items())
            },
        )


class FactDocument(Document, frozen=True, kw_only=True):
    """A fact; ``state`` and ``role`` where the answer has them."""

    entry: str
    index: int
    fact: str
    node: str | None
    object: SubjectDocument | None
    occurred_at: datetime | None
    observed_at: datetime
    actor: str | None
    says: str
    detail: Detail
    state: NodeStateDocument | UnsetType = UNSET
    role: str | UnsetType = UNSET

    @classmethod
    def of(
        cls,
        stored: StoredFact,
        *,
        state: NodeStateDocument | UnsetType = UNSET,
        role: Role | UnsetType = UNSET,
    ) -> Self:
        """Return the document of a fact."""
        fact = stored.fact
        return cls(
            entry=str(stored.entry),
            index=stored.index,
            fact=fact.kind,
            node=fact.node,
            object=fact.object and SubjectDocument.of(fact.object),
            occurred_at=fact.occurred_at,
            observed_at=stored.observed_at,
            actor=fact.actor,
            says=says(fact),
            detail=fact.detail,
            state=state,
            role=role,
        )

    @classmethod
    def of_step(cls, step: Step) -> Self:
        """Return the document of a fact, with the node after it."""
        return cls.of(step.stored, state=NodeStateDocument.of(step.state))
