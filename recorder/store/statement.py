"""Statements of questions, with names for their values and their numbers.

A text says ``:since`` for a value and ``#appeared`` for the number of a kind
of facts, of what they bear or are marked by, or of an operation. The driver
knows neither: values get numbers in the order in which the text names them
first, and what stands in the log for a word is put in as a literal, so that
the planner knows the partial indices. Both is done once, where a statement is
made: the driver prepares it by its text, once for a connection.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from recorder.store.codes import (
    BEARING_CODES,
    FACT_CODES,
    MARK_CODES,
    OPERATION_CODES,
)

__all__ = ["Statement"]

NAME = re.compile(r"(?<!:):([a-z_]+)")
"""But no cast, which begins with two colons."""

WORD = re.compile(r"#([a-z-]+)")

NUMBERS = {
    str(word): str(number)
    for codes in (BEARING_CODES, FACT_CODES, MARK_CODES, OPERATION_CODES)
    for word, number in codes.items()
}


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, as the driver takes it."""

    text: str
    names: tuple[str, ...]
    """Of its values, in their order."""

    @classmethod
    def of(cls, text: str) -> Self:
        """Make a statement of a text with names.

        Raises:
            KeyError: nothing that has a number is called so.
        """
        places: dict[str, int] = {}

        def numbered(found: re.Match[str]) -> str:
            return f"${places.setdefault(found[1], len(places) + 1)}"

        text = WORD.sub(lambda found: NUMBERS[found[1]], text)
        return cls(NAME.sub(numbered, text), tuple(places))

    def values(self, given: Mapping[str, object]) -> list[object]:
        """Return values in their order; one that is not named is a mistake."""
        assert given.keys() == set(self.names), (self.names, list(given))
        return [given[name] for name in self.names]
