"""A signal: a fact in its possible role in an incident."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Self

from recorder.explain.knowledge.rules import Act
from recorder.explain.signals.actor import Actor
from recorder.facts import says_with_object
from recorder.model.document import Private
from recorder.model.fact import FactKind, StoredFact
from recorder.model.facts import (
    BootChanged,
    ConditionChanged,
    Detail,
    EventOccurred,
    Vanished,
)
from recorder.model.outcomes import Decision, Fault, Role
from recorder.model.place import Place
from recorder.model.reference import EntryName
from recorder.model.state import Condition


class Topic(StrEnum):
    """What signals are about."""

    BOOT = "boot"
    READY = "ready"
    IDENTITY = "identity"
    """The life of a Node: it appeared, or vanished."""

    KUBELET = "kubelet-started"
    SILENCE = "lease-silent"
    CORDON = "cordon"
    EVICTION = "eviction"
    TAINT_EVICTION = "taint-eviction"
    SHUTDOWN = "shutdown"
    GPUS = "gpus"
    VERSION = "version"
    REBOOTED = "rebooted-event"
    DELETION = "deletion"
    SET_UP = "kubelet-set-up"
    WORD = "kubelet-count"
    REMOVING = "removing-event"
    CONTAINER = "container"
    CONDITION = "condition"
    TAINT = "taint"
    METADATA = "metadata"
    """A label or an annotation."""

    LOCK = "lock"
    EVENT = "event"
    OBJECT = "object"
    OBJECT_CONDITION = "object-condition"
    OBJECT_END = "object-end"
    CLAIM = "claim"
    """What another system says happened."""

    CLAIMED_STATE = "claimed-state"
    """What another system says holds."""

    STAGE = "stage"
    """How far a machine came while it started."""

    REQUEST = "request"
    """An audit record."""

    CLIENT = "client"
    """The client of the kubelet, which the API server refuses."""

    LIFE = "life"
    """A proof that the node was alive, whatever else it says."""


_BOUNDED = frozenset({Topic.CORDON, Topic.TAINT, Topic.METADATA})
"""Topics of what has no time of its own."""

LOSSES = (Topic.SILENCE, Topic.READY)
"""Topics of signals that a node is not heard from."""


class Subject(NamedTuple):
    """What a signal is about: its topic, and which one of many."""

    topic: Topic
    name: str = ""


SHUT_DOWN = Subject(Topic.TAINT, "node.cloudprovider.kubernetes.io/shutdown")
"""The cloud reports the machine of a Node as stopped."""


class Signal(NamedTuple):
    """A fact in a role."""

    role: Role
    subject: Subject
    stored: Private[StoredFact]
    fault: Fault | None = None
    decision: Decision | None = None
    actor: Actor | None = None
    of_spot: Decision | None = None
    """The decision instead, for a machine that may be reclaimed."""

    due: datetime | None = None
    """The time for which the action is announced, if any."""

    vague: bool = False
    """Whether it also occurs for reasons other than its decision, so that it
    does not prove that decision on its own."""

    over: bool = False
    """Whether it ends what an earlier signal of its subject began."""

    place: Place | None = None
    """What it is about, if not the node as a whole."""

    ruled: bool = True
    """Whether Kubernetes or a rule defines what it means. If not, only its
    author and its text are used."""

    listed: bool = False
    """Whether a list showed it first: it happened then at the latest."""

    excludes: tuple[Fault, ...] = ()
    """Causes of the same loss that it rules out, as a record of the machine
    itself."""

    @classmethod
    def by(
        cls,
        rule: Act,
        subject: Subject,
        stored: StoredFact,
        writer: Actor | None = None,
    ) -> Self:
        """Return a fact in the role that a rule gives it.

        Its actor is the one that the rule names, else its writer.
        """
        return cls(
            rule.role, subject, stored, rule.fault, rule.decision,
            Actor.named(rule.actor) or writer, vague=rule.vague,
        )  # fmt: skip

    @property
    def at(self) -> datetime:
        """When it happened, or when it was observed."""
        return self.stored.at

    @property
    def seen(self) -> datetime:
        """When it was observed, by our own clock."""
        return self.stored.observed_at

    @property
    def entry(self) -> EntryName:
        """The entry that proves it."""
        return self.stored.entry

    @property
    def detail(self) -> Detail:
        """What changed, or was said."""
        return self.stored.fact.detail

    @property
    def kind(self) -> FactKind:
        """The kind of its fact."""
        return self.stored.fact.kind

    @property
    def order(self) -> tuple[int, int]:
        """Its place in the log."""
        return self.position, self.stored.index

    @property
    def is_derived(self) -> bool:
        """Whether it is a taint that Kubernetes adds by itself.

        It follows from a cordon or from a condition.
        """
        return self.topic is Topic.TAINT and self.subject.name.startswith(
            "node.kubernetes.io/"
        )

    @property
    def topic(self) -> Topic:
        """What it is about."""
        return self.subject.topic

    @property
    def position(self) -> int:
        """Its position in the log."""
        return self.stored.entry.position

    @property
    def condition(self) -> Condition | None:
        """The condition after this signal; None if it was removed."""
        detail = self.detail
        return detail.new if isinstance(detail, ConditionChanged) else None

    @property
    def status(self) -> str | None:
        """The status of that condition."""
        if is_unseen(self):
            return "True" if self.over else "Unknown"
        condition = self.condition
        return None if condition is None else condition.status

    @property
    def boot(self) -> str | None:
        """The boot ID of the Node after this signal."""
        detail = self.detail
        return detail.new if isinstance(detail, BootChanged) else None

    @property
    def is_inferred(self) -> bool:
        """Whether it infers, from absence alone, that an object is gone."""
        detail = self.detail
        return isinstance(detail, Vanished) and detail.inferred

    @property
    def says(self) -> str:
        """The fact in words, with its object unless it is the node.

        Of what a list showed first the time is that at the latest.
        """
        said = says_with_object(self.stored.fact)
        if self.listed and self.topic in _BOUNDED and self.at < self.seen:
            said = f"{said} by then"
        return said if self.place is None else f"{self.place}: {said}"


def is_unseen(ready: Signal) -> bool:
    """Return whether only a listed Event shows that Ready changed."""
    event = isinstance(ready.stored.fact.detail, EventOccurred)
    return event and ready.topic is Topic.READY
