"""Which resource each version belongs to.

Etcd numbers its versions across all resources, so a version of one resource
cannot be one at which an object of another came or went. Versions of a walked
resource itself do not count: a walk may have found a version and never put it.

For one epoch, because a rewound history reuses versions. Bounded: all are
forgotten when there are too many.
"""

from collections.abc import Callable, Iterable

from recorder.model.reference import Resource

REMEMBERED = 200_000
"""Versions that are remembered; an hour of a small cluster, and ten minutes at
300 changes a second."""


class Owners:
    """Remembers the resource that each version belongs to."""

    def __init__(self, epoch: Callable[[], int]) -> None:
        """Start empty; ``epoch`` returns the current one."""
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
        """Return whether a version is known to belong to another resource."""
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
        """Return whether a version belongs to another resource."""
        return isinstance(version, int) and self._owners.is_of_another(
            version, self._resource
        )
