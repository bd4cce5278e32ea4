"""Statements of questions, with names for their values and their numbers.

A text says ``:since`` for a value and ``#appeared`` for the number of a kind
of facts, of what they bear or are marked by, or of an operation. The driver
knows neither: values get numbers in the order in which the text names them
first, and what stands in the log for a word is put in as a literal, so that
the planner knows the partial indices. Both is done once, where a statement is
made: the driver prepares it by its text, once for a connection.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from recorder.store.codes import (
    BEARING_CODES,
    FACT_CODES,
    MARK_CODES,
    OPERATION_CODES,
)

__all__ = ["Condition", "Statement", "conjoined"]

Condition: TypeAlias = tuple[str, Mapping[str, object]]
"""A text, and its values by name."""

NAME = re.compile(r"(?<!:):([a-z_]+)")
"""But no cast, which begins with two colons."""

WORD = re.compile(r"#([a-z-]+)")

NUMBERS = {
    str(word): str(number)
    for codes in (BEARING_CODES, FACT_CODES, MARK_CODES, OPERATION_CODES)
    for word, number in codes.items()
}

REMEMBERED = 500
"""Statements that are put together for a question: by what it asks for, and
not by the values."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, as the driver takes it."""

    text: str
    names: tuple[str, ...]
    """Of its values, in their order."""

    @staticmethod
    @lru_cache(REMEMBERED)
    def of(text: str) -> "Statement":
        """Make a statement of a text with names, once.

        Raises:
            KeyError: nothing that has a number is called so.
        """
        places: dict[str, int] = {}

        def numbered(found: re.Match[str]) -> str:
            return f"${places.setdefault(found[1], len(places) + 1)}"

        text = WORD.sub(lambda found: NUMBERS[found[1]], text)
        return Statement(NAME.sub(numbered, text), tuple(places))

    def values(self, given: Mapping[str, object]) -> list[object]:
        """Return values in their order; one that is not named is a mistake."""
        assert given.keys() == set(self.names), (self.names, list(given))
        return [given[name] for name in self.names]


def conjoined(conditions: Iterable[Condition]) -> Condition:
    """Return the condition that all of some hold.

    A name stands for one value in all of them.
    """
    texts: list[str] = []
    values: dict[str, object] = {}
    for text, own in conditions:
        assert own == {name: values.get(name, own[name]) for name in own}
        texts.append(text)
        values |= own
    return " and ".join(texts), values
