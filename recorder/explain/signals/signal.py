"""A signal: a fact with the part that it may play in an incident."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from recorder.explain.signals.actor import Actor
from recorder.facts import says_with_object
from recorder.model.fact import StoredFact
from recorder.model.outcomes import Decision, Fault, Role

__all__ = ["Signal", "Subject", "Topic"]


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
    LABEL = "label"
    ANNOTATION = "annotation"
    LOCK = "lock"
    EVENT = "event"
    OBJECT = "object"
    OBJECT_CONDITION = "object-condition"
    OBJECT_END = "object-end"
    REQUEST = "request"
    """An audit record."""


class Subject(NamedTuple):
    """What a signal is about: its topic, and which one of many."""

    topic: Topic
    name: str = ""


class Signal(NamedTuple):
    """A fact in a part."""

    role: Role
    subject: Subject
    stored: StoredFact
    fault: Fault | None = None
    decision: Decision | None = None
    actor: Actor | None = None
    due: datetime | None = None
    """When what was announced is to be done, where that is said."""

    vague: bool = False
    """Whether what it says is said for other reasons as well."""

    over: bool = False
    """Whether it ends what an earlier signal of its subject began."""

    ruled: bool = True
    """Whether Kubernetes or a rule says what it means. Of others only the
    author and the words are known."""

    @property
    def topic(self) -> Topic:
        """What it is about."""
        return self.subject.topic

    @property
    def position(self) -> int:
        """Where it is in the log."""
        return self.stored.entry.position

    @property
    def says(self) -> str:
        """The fact in words, with its object unless it is the node."""
        return says_with_object(self.stored.fact)
