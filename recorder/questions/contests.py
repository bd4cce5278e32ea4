"""Contests: two authors who undo each other's changes of one field.

By structure alone, of any field of any object: a change gives back the value
that the change before it took away, another author made it, and the two take
turns. Both are known by the same means, since one person is a user in an
audit record and a program in `managedFields`. A condition that becomes
Unknown claims nothing: whoever sets it has not heard of the other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from recorder.classify.changes import Change, How
from recorder.classify.paths import Path, written_path
from recorder.explain.thresholds import LIMITS
from recorder.model.author import Author, KnownBy
from recorder.questions.authors import EXACT
from recorder.questions.history import Version
from recorder.questions.ports import Line

__all__ = ["FieldContest", "FieldContests"]

TURNS_MIN = 3
"""From A to B, back to A, and to B again."""

CONTESTS_MAX = 100
"""That are told, the first: a field may have one after the other."""

UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True)
class _Turn:
    author: Author
    before: object
    after: object
    line: Line


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldContest:
    """Two authors took turns at a field."""

    path: Path
    turns: Sequence[_Turn]

    @property
    def field(self) -> str:
        """The path as people write it."""
        return written_path(self.path)

    @property
    def sides(self) -> Sequence[tuple[Author, object]]:
        """Both authors, and the value that each gave it; None: removed."""
        return [(turn.author, turn.after) for turn in self.turns[:2]]

    @property
    def since(self) -> datetime:
        """When the first change was observed."""
        return self.turns[0].line.observed_at

    @property
    def until(self) -> datetime:
        """When the last was."""
        return self.turns[-1].line.observed_at

    @property
    def lines(self) -> Sequence[Line]:
        """The versions that show the changes."""
        return [turn.line for turn in self.turns]


class FieldContests:
    """Finds contests, version after version of one object."""

    def __init__(self) -> None:
        self._runs: dict[Path, list[_Turn]] = {}
        self._found: list[FieldContest] = []
        self._uid: str | None = None

    def take(self, version: Version) -> None:
        """Take the next version; another incarnation begins anew."""
        if version.uid != self._uid:
            self._end()
            self._uid = version.uid
        if version.line.operation not in EXACT:
            return
        for change in version.changed:
            if change.how is not How.REORDERED:
                author = version.attribution.of(change)
                self._turn(change, author, version.line)

    def found(self) -> Sequence[FieldContest]:
        """Return the contests so far, in the order of their begin."""
        going_on = [
            contest
            for path, run in self._runs.items()
            for contest in _contests(path, run)
        ]
        found = sorted(
            [*self._found, *going_on],
            key=lambda one: (one.turns[0].line.entry, one.field),
        )
        return found[:CONTESTS_MAX]

    def _turn(self, change: Change, author: Author, line: Line) -> None:
        turn = _Turn(author, _claim(change.old), _claim(change.new), line)
        run = self._runs.setdefault(change.path, [])
        if run and not _goes_on(run, turn):
            self._found += _contests(change.path, run)
            run[:] = run[-1:] if _answers(run[-1], turn) else []
        run.append(turn)

    def _end(self) -> None:
        for path, run in self._runs.items():
            self._found += _contests(path, run)
        self._runs.clear()


def _contests(path: Path, run: Sequence[_Turn]) -> Iterator[FieldContest]:
    if len(run) >= TURNS_MIN:
        yield FieldContest(path=path, turns=tuple(run))


def _goes_on(run: Sequence[_Turn], turn: _Turn) -> bool:
    """Whether a change undoes the last one, by the same as in each turn."""
    before = TURNS_MIN - 1
    return _answers(run[-1], turn) and (
        len(run) < before or run[-before].author.name == turn.author.name
    )


def _answers(first: _Turn, second: _Turn) -> bool:
    """Whether somebody soon gives back what another took away."""
    return (
        second.after == first.before
        and second.before == first.after
        and UNKNOWN not in (first.after, second.after)
        and first.author.known_by is second.author.known_by
        and first.author.known_by is not KnownBy.UNKNOWN
        and first.author.name != second.author.name
        and second.line.observed_at - first.line.observed_at
        <= LIMITS.contested
    )


def _claim(value: object) -> object:
    """Return what somebody says by a value: of a part, that it is there.

    A taint that is set again has another time.
    """
    return isinstance(value, dict | list) or value
