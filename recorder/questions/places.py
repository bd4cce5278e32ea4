"""Where nodes stand, by their labels."""

from collections.abc import Mapping

__all__ = ["rack_of"]

RACK = "rack"
"""The end of the keys of labels that name a rack."""


def rack_of(labels: Mapping[str, str]) -> str | None:
    """Return the rack that the labels of a node name, if they do."""
    for key in sorted(labels):
        if key.rpartition("/")[2] == RACK:
            return labels[key]
    return None
