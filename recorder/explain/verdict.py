"""What is said of one happening: the verdict and its parts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recorder.explain.actors import Actor
from recorder.explain.signs import Sign
from recorder.knowledge import Decision, Fault
from recorder.model.reference import EntryName

__all__ = [
    "CONFIDENCES",
    "Contradiction",
    "Decided",
    "Evidence",
    "Faulted",
    "Happened",
    "Missing",
    "Rival",
    "Verdict",
]

CONFIDENCES = ("unknown", "possible", "likely", "proven")
"""From the least to the most."""


class Happened:
    """What happened to a node; the contract's names, strongest first."""

    REPLACED = "replaced"
    REJOINED = "rejoined"
    REMOVED = "removed"
    REBOOT = "reboot"
    UNREACHABLE = "unreachable"
    KUBELET_RESTART = "kubelet-restart"
    DRAINED = "drained"
    CORDONED = "cordoned"
    DEGRADED = "degraded"
    JOINED = "joined"


@dataclass(frozen=True, slots=True, kw_only=True)
class Faulted:
    """What broke, by which sign."""

    fault: Fault
    sign: Sign
    confidence: str
    """That it is the cause of what happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What was decided, by whom, by which sign."""

    decision: Decision
    actor: Actor | None
    sign: Sign
    confidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A sign in a verdict."""

    role: str
    sign: Sign


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """Another cause that would look alike."""

    cause: str
    excluded: bool
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A source that would have told more."""

    evidence: str
    would_tell: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two records of which one is wrong; it is not settled which."""

    sign: Sign
    but: str
    """What the other record says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What happened to a node, why, who decided, on what evidence."""

    node: str
    node_uid: str | None
    happened: str
    effect: Sign
    boot_id_before: str | None
    boot_id_after: str | None
    between: tuple[datetime | None, datetime]
    """The last proof of the old state and the first of the new."""

    lost_at: datetime
    """The first proof that something was wrong with the node."""

    back_in_service_at: datetime | None
    mode: str
    began: datetime | None
    """The first sign, but for what held long before it."""

    fault: Faulted | None
    decision: Decided | None
    sentence: str = ""
    confidence: str = "unknown"
    evidence: Sequence[Evidence] = ()
    left_out: int = 0
    """Signs of the same chain that the evidence does not name."""

    rivals: Sequence[Rival] = ()
    missing: Sequence[Missing] = ()
    contradictions: Sequence[Contradiction] = ()
    gaps: Sequence[EntryName] = ()
    """Those that overlap the time that it rests on: it is less sure."""

    @property
    def id(self) -> str:
        """The name of the first entry of its effect, or of its fault."""
        return str(self.effect.stored.entry)

    @property
    def cause(self) -> str:
        """The fault, else the decision, else ``unrecorded``."""
        if self.fault is not None:
            return self.fault.fault.value
        if self.decision is not None:
            return self.decision.decision.value
        return "unrecorded"

    @property
    def began_at(self) -> datetime:
        """When the chain began that it is about."""
        return min(self.began or self.effect.stored.at, self.effect.stored.at)
