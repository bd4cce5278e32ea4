"""Who asks, and what they may get: as the API server of a cluster knows it."""

from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Person", "Right"]


class Right(NamedTuple):
    """That somebody may get the objects of a resource."""

    group: str
    resource: str
    """The plural."""

    namespace: str
    """Empty for all namespaces, and for what is in none."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody, as the API server knows them."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """What the API server's authorization may look at besides."""
