"""What an answer reads: one log, up to a size, with one derivation.

It is read once, when a reading begins. Later entries, and a derivation that
becomes current later, belong to the next reading.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from recorder.store.statement import Statement


@dataclass(frozen=True, slots=True)
class Extent:
    """The part of a log that a reading covers."""

    log: int
    size: int
    derivation: int | None
    """The current derivation; None if the log has none."""

    built_to: int | None
    """The last position with facts; None if the writer adds those of each
    entry."""

    def named_by(self, statement: Statement) -> Mapping[str, int | None]:
        """Return the values that a statement names."""
        values = {
            "log": self.log,
            "size": self.size,
            "derivation": self.derivation,
        }
        return {n: v for n, v in values.items() if n in statement.names}
