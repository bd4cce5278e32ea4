"""Users of a cluster and what they may get, as its API server knows them."""

from dataclasses import dataclass
from typing import NamedTuple


class Right(NamedTuple):
    """The right to get, or to list, the objects of a resource."""

    group: str
    resource: str
    """The plural."""

    namespace: str
    """Empty for all namespaces, and for what is in none."""

    verb: str = "get"


@dataclass(frozen=True, slots=True)
class Person:
    """A user, as the API server knows them."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """What the API server's authorization may also read."""
