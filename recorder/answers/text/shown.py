"""Answers as commands print them: a text, or a list.

Each has what people read and what JSON and YAML encode; a command chooses by
the form that is asked for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recorder.answers.text.table import Cell, Column

__all__ = ["Item", "Listing", "Text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """An answer in lines."""

    document: object
    lines: Sequence[str] = ()
    notes: Sequence[str] = ()
    """What is said beside it, in every form."""

    judged: bool = False
    """Whether lines end with how certain they are."""


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a list."""

    name: str
    """By which another command takes it."""

    cells: Sequence[Cell]
    document: object
    """None for what people alone are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """An answer that is a list."""

    columns: Sequence[Column]
    items: Sequence[Item]
    whole: Callable[[Sequence[object]], object]
    """Makes the document of the answer of those of the items."""

    nothing: str
    """What is said where there is none."""

    notes: Sequence[str] = ()
    """What is said beside it, in every form."""

    text_notes: Sequence[str] = ()
    """What is said beside a table."""

    before: Sequence[str] = ()
    after: Sequence[str] = ()
    """Lines around a table."""

    says_missing: bool = False
    """Whether a table says itself what may be missing."""
