"""What the numbers of a day stand for, compared with its entries.

Each entry has its names, which are hashed, and the numbers by which facts and
statements find them, which are not.
"""

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["NAMES", "Names"]

Row = Mapping[str, Any]

OBJECT = ("api_group", "kind", "namespace", "name", "uid")
NAMES = {
    "objects.parquet": ("object_id", OBJECT),
    "nodes.parquet": ("node_id", ("name",)),
    "words.parquet": ("word_id", ("text",)),
}
"""Of each file of names, the column of the number, and what it stands for."""

REFERENCES = (
    ("objects.parquet", "object_id", OBJECT),
    ("nodes.parquet", "node_id", ("node",)),
    ("words.parquet", "reason_id", ("reason",)),
    ("words.parquet", "actor_id", ("actor",)),
)
"""Which numbers of an entry stand for which of its columns."""


class Names:
    """The names of one day, by their numbers."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], tuple[object, ...]] = {}

    def add(self, file: str, rows: Iterable[Row]) -> None:
        """Take the rows of a file; of a number that comes twice none fits."""
        number, columns = NAMES[file]
        for row in rows:
            key = file, row[number]
            said = tuple(row[column] for column in columns)
            self._known[key] = () if key in self._known else said

    def agree(self, entry: Row) -> bool:
        """Return whether the numbers of an entry stand for its names."""
        for file, number, columns in REFERENCES:
            said = tuple(entry[column] for column in columns)
            known = self._known.get((file, entry[number]))
            if known != said and (
                entry[number] is not None or set(said) != {None}
            ):
                return False
        return True
