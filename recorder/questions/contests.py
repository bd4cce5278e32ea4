"""Contests over fields of an object: two authors take turns.

Both are known by the same means, since one person is a user in an audit
record and a program in `managedFields`.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from recorder.classify.changes import How
from recorder.classify.paths import Path, written_path
from recorder.explain.turns import Turn, Turns
from recorder.model.author import Author, KnownBy
from recorder.model.document import Document
from recorder.model.reference import EntryName
from recorder.questions.authors import EXACT
from recorder.questions.history import Version
from recorder.questions.ports import Line

__all__ = ["FieldContest", "FieldContests"]

CONTESTS_MAX = 100
"""That are told, the first: a field may have one after the other."""


class FieldContestSide(Document, frozen=True, kw_only=True):
    """One of two, and what it set a field to."""

    author: Author
    value: object | None
    """Null where it removed it; true of a part that it added."""


class FieldContest(Document, frozen=True, kw_only=True):
    """Two authors took turns at a field, each undoing the other's change."""

    path: str
    sides: Sequence[FieldContestSide]
    since: datetime
    until: datetime
    entries: Sequence[EntryName]
    """The versions that show the changes."""

    @classmethod
    def of(cls, path: Path, turns: Sequence[Turn[Author, Line]]) -> Self:
        """Return the contest that turns at a field make."""
        return cls(
            path=written_path(path),
            sides=[
                FieldContestSide(author=turn.author, value=turn.after)
                for turn in turns[:2]
            ],
            since=turns[0].at,
            until=turns[-1].at,
            entries=[turn.shown.entry for turn in turns],
        )


class FieldContests:
    """Finds contests, version after version of one object."""

    def __init__(self) -> None:
        self._turns = Turns[Path, Author, Line](
            is_same=lambda one, other: one.name == other.name,
            is_other=_is_other,
        )
        self._uid: str | None = None

    def take(self, version: Version) -> None:
        """Take the next version; another incarnation begins anew."""
        if version.uid != self._uid:
            self._turns.end()
            self._uid = version.uid
        line = version.line
        if line.operation not in EXACT:
            return
        for change in version.changed:
            if change.how is not How.REORDERED:
                turn = Turn(
                    version.attribution.of(change),
                    _claim(change.old),
                    _claim(change.new),
                    line.observed_at,
                    line,
                )
                self._turns.take(change.path, turn)

    def found(self) -> Sequence[FieldContest]:
        """Return the contests so far, in the order of their begin."""
        found = sorted(
            (
                FieldContest.of(path, turns)
                for path, turns in self._turns.found()
            ),
            key=lambda one: (one.entries[0], one.path),
        )
        return found[:CONTESTS_MAX]


def _is_other(one: Author, other: Author) -> bool:
    return (
        one.known_by is other.known_by
        and one.known_by is not KnownBy.UNKNOWN
        and one.name != other.name
    )


def _claim(value: object) -> object:
    """Return what somebody says by a value: of a part, that it is there.

    A taint that is set again has another time.
    """
    return isinstance(value, dict | list) or value
