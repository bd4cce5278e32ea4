"""Cables: labels of a Node that say what its ports lead to, and should."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from recorder.model.place import Place, PlaceKind

PREFIXES: Final = (
    "backend.coreweave.cloud/neighbors.",
    "ib.coreweave.cloud/neighbors.",
)
CURRENT: Final = "current."
EXPECTED: Final = "expected."
KEYS_MAX: Final = 4096


class Cable(NamedTuple):
    """The labels of one end of a cable."""

    interface: str
    """The RDMA device, such as ``mlx5_0``."""

    current: str
    """Key of what it leads to."""

    expected: str
    """Key of what it should lead to."""

    def port(self, node: str) -> Place | None:
        """Return the port of a node; None if that is no name."""
        try:
            return Place.of(PlaceKind.PORT, f"{node}:{self.interface}")
        except ValueError:
            return None

    def is_right(self, labels: Mapping[str, str]) -> bool | None:
        """Return whether it leads where it should; None if unknown."""
        expected = labels.get(self.expected)
        if expected is None:
            return None
        return labels.get(self.current) == expected


@lru_cache(KEYS_MAX)
def cable_of(key: str) -> Cable | None:
    """Return the cable that the key of a label is about, if any."""
    for prefix in PREFIXES:
        for side in (CURRENT, EXPECTED):
            if key.startswith(prefix + side):
                rest = key.removeprefix(prefix + side)
                interface, dot, _ = rest.rpartition(".")
                return Cable(
                    interface if dot else rest,
                    f"{prefix}{CURRENT}{rest}",
                    f"{prefix}{EXPECTED}{rest}",
                )
    return None
