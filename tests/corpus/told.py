"""What a variation varies: a tape together with its truth."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.corpus.tape_lines import Lines
from tests.corpus.truth import Truth

__all__ = ["Told", "Variation"]


@dataclass(frozen=True, slots=True)
class Told:
    """A tape, and what is true of it."""

    tape: Lines
    truth: Truth


Variation = Callable[[Told, int], Told]
"""Told anew, by a seed."""
