"""Answers as commands print them: a text, or a list.

Each has lines for people, and the document that JSON and YAML encode; a
command chooses by the output format.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recorder.answers.text.table import Cell, Column


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """An answer in lines."""

    document: object
    lines: Sequence[str] = ()
    notes: Sequence[str] = ()
    """Notes for people, with every output format."""

    judged: bool = False
    """Whether lines end with how certain they are."""


@dataclass(frozen=True, slots=True)
class Item:
    """One row of a list."""

    name: str
    """Its name as an argument of other commands."""

    cells: Sequence[Cell]
    document: object
    """Its JSON document; None for rows that only a table has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """A shorter table of an answer, for people who do not ask for all."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    after: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """An answer that is a list."""

    columns: Sequence[Column]
    items: Sequence[Item]
    whole: Callable[[Sequence[object]], object]
    """Returns the document of the answer, from those of the items."""

    nothing: str
    """The text for an empty list."""

    notes: Sequence[str] = ()
    """Notes for people, with every output format."""

    text_notes: Sequence[str] = ()
    """Notes for people, only with a table."""

    before: Sequence[str] = ()
    after: Sequence[str] = ()
    """Lines before and after a table."""

    brief: Brief | None = None
    """What is shown instead unless all columns are asked for."""

    says_missing: bool = False
    """Whether the table itself shows what may be missing."""
