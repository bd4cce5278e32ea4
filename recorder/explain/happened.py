"""Sorts of what can happen to a node."""

from recorder.model.outcomes import Happened

__all__ = ["GONE", "LOST", "STAYED", "STAYING"]

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
