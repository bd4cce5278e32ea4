"""Causes: one row of ``causes.yaml`` for each fault and each decision.

A row describes a cause as data: its signature, its words in a sentence, what
looks similar, and what else would show it. ``faults`` infers which fault
took a node away.
"""

from enum import StrEnum

import msgspec

from recorder.explain.verdict import Missing
from recorder.model.outcomes import Decision, Fault, Happened
from recorder.model.rules_files import shipped_rows

GONE = frozenset({Happened.REMOVED, Happened.REJOINED, Happened.REPLACED})
"""What ends the life of a Node."""

LOST = GONE | {
    Happened.REBOOT,
    Happened.UNREACHABLE,
    Happened.KUBELET_RESTART,
}
"""What takes a node away, for a moment or for good."""

STAYED = frozenset({Happened.DEGRADED, Happened.JOINED})
"""What leaves a node in service."""

STAYING = frozenset({Happened.DRAINED, Happened.CORDONED})
"""What takes a node out of service and leaves it running."""


class Weight(StrEnum):
    """How a fault is found; of several, the last of these counts."""

    CONCLUDED = "concluded"
    """Not recorded; it follows from what happened."""

    RECORDED = "recorded"
    """Recorded as broken by a program or a person."""

    SHARED = "shared"
    """It affected all nodes at once."""

    PROVED = "proved"
    """A record from the machine itself."""


class _Row(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    signature: str
    """What it looks like, for the table in the documentation."""

    lookalikes: tuple[str, ...]
    """Similar causes, and how they differ."""


class FaultRow(_Row, frozen=True, kw_only=True):
    """Something that breaks."""

    weight: Weight = Weight.RECORDED
    concluded: str | None = None
    """Its words in a sentence, if it is inferred and not recorded."""

    by_itself: bool = False
    """Whether it happens by itself: a loss is abrupt even if the node was
    cordoned or drained before."""

    spares_kubelet: bool = False
    """Whether the kubelet keeps running while the part is broken."""

    harmless: bool = False
    """Whether nothing broke on the node: it is a reason to act, but does not
    take a node away."""

    explains_loss: bool = True
    """Whether a report of it from before a loss may explain the loss; false if
    it cannot take a node away, or is proved only afterwards."""

    proof: Missing | None = None
    """What would show it, and no API server has. Every reboot without a
    decision and without a proven cause names it as missing."""


class DecisionRow(_Row, frozen=True, kw_only=True):
    """Something that a person or a program decides."""

    purpose: str = ""
    """Its purpose in a sentence; empty if only a fault gives it."""

    announced: bool = False
    """Whether one author may announce it and another carry it out."""

    stated: bool = False
    """Whether it is stated, independent of faults."""

    fleetwide: bool = False
    """Whether it is for whole fleets, independent of faults of a node."""

    gives_up: bool = False
    """Whether the instance goes by it: another then deletes its Node."""

    takes: bool = False
    """Whether it is to remove a Node."""


class _Causes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    happened: dict[Happened, str]
    faults: dict[Fault, FaultRow]
    decisions: dict[Decision, DecisionRow]


_CAUSES = shipped_rows("recorder.explain", "causes.yaml", _Causes)
FAULTS, DECISIONS = _CAUSES.faults, _CAUSES.decisions
VERBS = _CAUSES.happened
"""What happened to a node, in a sentence."""
