"""What an answer is made from: one log, up to a size, by one derivation.

It is found once, when a reading begins. A derivation that becomes current
meanwhile, and entries that come meanwhile, are of the next reading.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from recorder.store.statement import Statement

__all__ = ["Extent"]


@dataclass(frozen=True, slots=True)
class Extent:
    """A log as it stood."""

    log: int
    size: int
    derivation: int | None
    """The derivation that was current; None where the log has none."""

    built_to: int | None
    """Where its facts end; None where the writer adds those of every
    entry."""

    def named_by(self, statement: Statement) -> Mapping[str, int | None]:
        """Return of its values those that a statement names."""
        values = {
            "log": self.log,
            "size": self.size,
            "derivation": self.derivation,
        }
        return {n: v for n, v in values.items() if n in statement.names}
