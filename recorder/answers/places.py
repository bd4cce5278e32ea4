"""Where nodes stand, by their labels.

What fails together stands in one rack, or, where no label names that, behind
one switch or in one block. A zone is too wide to be what failed.
"""

from collections.abc import Mapping

from recorder.model.state import TOPOLOGY

__all__ = ["NARROW", "names_rack", "rack_of"]

NARROW = tuple(end for end in TOPOLOGY if end != "zone")
"""The ends of the keys of labels that name a rack, the narrowest first."""


def names_rack(key: str) -> bool:
    """Return whether a label of this key names a rack, or what is like one."""
    return key.rpartition("/")[2] in NARROW


def rack_of(labels: Mapping[str, str]) -> str | None:
    """Return the narrowest place that the labels of a node name, if any."""
    named = filter(names_rack, sorted(labels))
    narrowest = min(
        named,
        key=lambda key: NARROW.index(key.rpartition("/")[2]),
        default=None,
    )
    return None if narrowest is None else labels[narrowest]
