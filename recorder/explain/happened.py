"""What can happen to a node; the contract's names."""

from enum import StrEnum

__all__ = ["GONE", "LOST", "STAYED", "STAYING", "Happened"]


class Happened(StrEnum):
    """What happened to a node, strongest first."""

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


GONE = frozenset({Happened.REMOVED, Happened.REJOINED, Happened.REPLACED})
"""In which the life of a Node ended."""

LOST = GONE | {
    Happened.REBOOT,
    Happened.UNREACHABLE,
    Happened.KUBELET_RESTART,
}
"""In which a node went away, for a moment or for good."""

STAYED = frozenset({Happened.DEGRADED, Happened.JOINED})
"""In which no node leaves service."""

STAYING = frozenset({Happened.DRAINED, Happened.CORDONED})
"""In which a node leaves service and goes on running."""
