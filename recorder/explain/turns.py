"""Turns: two authors who undo each other's changes of one field.

Found by structure alone, for any field of any object: each change restores
the value that the previous change replaced, and the authors alternate. A
condition that becomes Unknown is no claim: its author has not heard from the
other.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from recorder.explain.thresholds import LIMITS

__all__ = ["TURNS_MIN", "Turn", "Turns"]

TURNS_MIN = 3
"""From A to B, back to A, and to B again."""

UNKNOWN = "Unknown"

Who = TypeVar("Who")
Shown = TypeVar("Shown")
Field = TypeVar("Field", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Turn(Generic[Who, Shown]):
    """One change of a field."""

    author: Who
    before: object
    after: object
    """What the author sets the field to; None if the author removed it."""

    at: datetime
    shown: Shown
    """What shows the change."""


class Turns(Generic[Field, Who, Shown]):
    """Finds alternating authors among changes in the order of the log."""

    def __init__(
        self,
        *,
        is_same: Callable[[Who, Who], bool],
        is_other: Callable[[Who, Who], bool],
    ) -> None:
        """Start without changes.

        Args:
            is_same: whether two names are known to be one author.
            is_other: whether two names are known to be different authors.
        """
        self._is_same = is_same
        self._is_other = is_other
        self._runs: dict[Field, list[Turn[Who, Shown]]] = {}
        self._over: list[tuple[Field, Sequence[Turn[Who, Shown]]]] = []

    def take(self, field: Field, turn: Turn[Who, Shown]) -> None:
        """Take the next change of a field."""
        run = self._runs.setdefault(field, [])
        if run and not self._goes_on(run, turn):
            self._close(field, run)
            run[:] = run[-1:] if self._answers(run[-1], turn) else []
        run.append(turn)

    def end(self) -> None:
        """End all runs: the next change is of another object."""
        for field, run in self._runs.items():
            self._close(field, run)
        self._runs.clear()

    def found(self) -> Iterator[tuple[Field, Sequence[Turn[Who, Shown]]]]:
        """Yield the longest runs so far in which two authors alternate."""
        yield from self._over
        for field, run in self._runs.items():
            if len(run) >= TURNS_MIN:
                yield field, tuple(run)

    def _close(self, field: Field, run: Sequence[Turn[Who, Shown]]) -> None:
        if len(run) >= TURNS_MIN:
            self._over.append((field, tuple(run)))

    def _goes_on(
        self, run: Sequence[Turn[Who, Shown]], turn: Turn[Who, Shown]
    ) -> bool:
        """Whether a change undoes the last one, by the expected author."""
        before = TURNS_MIN - 1
        return self._answers(run[-1], turn) and (
            len(run) < before
            or self._is_same(run[-before].author, turn.author)
        )

    def _answers(
        self, first: Turn[Who, Shown], second: Turn[Who, Shown]
    ) -> bool:
        """Whether a different author soon restores the previous value."""
        return (
            second.after == first.before
            and second.before == first.after
            and UNKNOWN not in (first.after, second.after)
            and self._is_other(first.author, second.author)
            and second.at - first.at <= LIMITS.contested
        )
