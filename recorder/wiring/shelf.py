"""What stays at hand between two questions to one database.

Days of the archive that are open, and the lists of days that there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recorder.store.archive_engine import Asked
from recorder.store.engine import Engine
from recorder.store.read_archived import (
    ArchivedDay,
    archived_standing,
    read_archived,
)

__all__ = ["Shelf"]

SHELVED = 4
"""Sets of days that stay open; each has a few megabytes of names."""

LOGS = 64
"""Of which the list of days is kept, a few hundred bytes for each day."""


@dataclass(slots=True)
class Shelf:
    """What stays open between two questions to one database."""

    folder: Path
    """Of what is fetched from buckets, and of what DuckDB spills."""

    kept: dict[object, Asked] = field(default_factory=dict)
    days: dict[int, tuple[object, Sequence[ArchivedDay]]] = field(
        default_factory=dict
    )
    """Of logs, with what they were when these were read."""

    def keep(self, key: object, tables: Asked) -> None:
        """Keep days open; those that were used last stay."""
        self.kept.pop(key, None)
        self.kept[key] = tables
        while len(self.kept) > SHELVED:
            del self.kept[next(iter(self.kept))]

    async def days_of(self, engine: Engine, log: int) -> Sequence[ArchivedDay]:
        """Return the days of a log, read again only if there are others.

        A question about what is hot would otherwise pay for each of them.
        """
        standing = await archived_standing(engine, log)
        before, days = self.days.pop(log, (None, ()))
        if before != standing:
            days = await read_archived(engine, log)
        self.days[log] = standing, days
        while len(self.days) > LOGS:
            del self.days[next(iter(self.days))]
        return days
