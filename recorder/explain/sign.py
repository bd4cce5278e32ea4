"""A sign: a fact with the part that it may play in a chain."""

from datetime import datetime
from typing import NamedTuple

from recorder.explain.actors import Actor
from recorder.facts import says_with_object
from recorder.knowledge import Decision, Fault, Role
from recorder.model.fact import StoredFact

__all__ = ["Sign", "Subject"]


class Subject:
    """What signs of Kubernetes itself are about."""

    BOOT = "boot"
    READY = "ready"
    IDENTITY = "identity"
    KUBELET = "kubelet started"
    SILENCE = "lease"
    CORDON = "cordon"
    EVICTION = "eviction"
    TAINT_EVICTION = "taint eviction"
    SHUTDOWN = "shutdown"
    GPUS = "gpus"
    VERSION = "version"
    REBOOTED = "rebooted"
    DELETION = "deletion"
    TAINT = "taint"
    SET_UP = "kubelet set up"
    WORD = "kubelet counts"
    REMOVING = "removing"


class Sign(NamedTuple):
    """A fact in a part."""

    role: Role
    subject: str
    stored: StoredFact
    fault: Fault | None = None
    decision: Decision | None = None
    actor: Actor | None = None
    due: datetime | None = None
    """When what was announced is to be done, where that is said."""

    vague: bool = False
    """Whether what it says is said for other reasons as well."""

    over: bool = False
    """Whether it ends what an earlier sign of its subject began."""

    @property
    def position(self) -> int:
        """Where it is in the log."""
        return self.stored.entry.position

    @property
    def says(self) -> str:
        """The fact in words, with its object unless it is the node."""
        return says_with_object(self.stored.fact)
