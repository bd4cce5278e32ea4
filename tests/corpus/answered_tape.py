"""A tape together with its truth: what a variation changes."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.corpus.tape_lines import Lines
from tests.corpus.truth import Truth

__all__ = ["AnsweredTape", "Variation"]


@dataclass(frozen=True, slots=True)
class AnsweredTape:
    """A tape and its truth."""

    tape: Lines
    truth: Truth


Variation = Callable[[AnsweredTape, int], AnsweredTape]
"""Return the incident in another form, made from a seed."""
