"""The place in a resource's history from which a watch may continue.

A version is not unique per frame: one revision may delete many objects, each
reported by a frame of its own with the same version. Continuing from the
version seen last could therefore skip the rest of its revision forever. So a
version counts as completed only when a frame of a later one, or a bookmark,
was seen.
"""

from recorder.sources.watch.versions import is_lower


class Place:
    """How far one resource was seen; owned by its reflector.

    Holds nothing durable: the log commits its own resume point by the same
    rule, computed from what is put.
    """

    def __init__(self, completed: str | None = None) -> None:
        self.completed = completed
        """Everything up to and including this version was seen; None when
        the resource must be listed first."""
        self.seen = completed
        """The highest version seen."""
        self.former: str | None = None
        """What was completed when it was last forgotten."""

    def reached(self, version: str) -> None:
        """Note a complete list as of a version, or a bookmark."""
        if self.seen is None or not is_lower(version, self.seen):
            self.completed = self.seen = version

    def saw(self, version: str) -> None:
        """Note a frame; every version before it is then complete."""
        if not version or version == self.seen:
            return
        if self.seen is not None and is_lower(version, self.seen):
            return
        self.completed, self.seen = self.seen, version

    def begin_again(self) -> None:
        """Note that a watch starts over from the completed version."""
        self.seen = self.completed

    def forget(self) -> None:
        """Note that nothing seen so far counts: the next step is a list."""
        self.former = self.completed or self.former
        self.completed = self.seen = None
