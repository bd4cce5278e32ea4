"""Places of nodes, by their labels.

Nodes that fail together share a rack or, if no label names it, a switch or a
block. A zone is too wide for one failure.
"""

from collections.abc import Mapping

from recorder.model.state import TOPOLOGY

__all__ = ["NARROW", "names_rack", "rack_of"]

NARROW = tuple(end for end in TOPOLOGY if end != "zone")
"""Last parts of label keys that name a rack, the narrowest first."""


def names_rack(key: str) -> bool:
    """Return whether labels with this key name a rack, switch or block."""
    return key.rpartition("/")[2] in NARROW


def rack_of(labels: Mapping[str, str]) -> str | None:
    """Return the narrowest place in the labels of a node, if any."""
    named = filter(names_rack, sorted(labels))
    narrowest = min(
        named,
        key=lambda key: NARROW.index(key.rpartition("/")[2]),
        default=None,
    )
    return None if narrowest is None else labels[narrowest]
