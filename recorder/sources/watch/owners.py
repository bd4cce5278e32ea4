"""Of which resource each version is.

Etcd numbers its versions across all resources, so a version of one cannot be
one at which something of another came or went. What is known of a resource
itself does not count: a walk may have found a version and never put it.

Of one epoch: versions of a history that is over are used again. Bounded: all
are forgotten when there are too many.
"""

from collections.abc import Callable, Iterable

from recorder.model.reference import Resource

__all__ = ["Others", "Owners"]

REMEMBERED = 200_000
"""Versions that are remembered; an hour of a small cluster, and ten minutes
at 300 changes a second."""


class Owners:
    """Remembers versions, and whose they are."""

    def __init__(self, epoch: Callable[[], int]) -> None:
        """Remember nothing yet; ``epoch`` returns the one that goes on."""
        self._epoch = epoch
        self._of = epoch()
        self._owners: dict[int, Resource] = {}

    def note(
        self, resource: Resource, versions: Iterable[int], *, epoch: int
    ) -> None:
        """Note versions of a resource that were read in an epoch."""
        owners = self._now()
        if epoch != self._of:
            return
        if len(owners) >= REMEMBERED:
            owners.clear()
        owners.update(dict.fromkeys(versions, resource))

    def is_of_another(self, version: int, resource: Resource) -> bool:
        """Return whether a version is known to be of another resource."""
        return self._now().get(version, resource) != resource

    def _now(self) -> dict[int, Resource]:
        if self._epoch() != self._of:
            self._of = self._epoch()
            self._owners.clear()
        return self._owners


class Others:
    """The versions of all resources but one; grows as they are noted."""

    def __init__(self, owners: Owners, resource: Resource) -> None:
        self._owners = owners
        self._resource = resource

    def __contains__(self, version: object) -> bool:
        """Return whether a version is of another resource."""
        return isinstance(version, int) and self._owners.is_of_another(
            version, self._resource
        )
