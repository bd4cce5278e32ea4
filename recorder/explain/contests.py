"""Contests: two authors who undo each other's changes of one field.

Found by structure alone, for any field of any object: each change restores
the value that the previous change replaced, and the authors alternate. A
condition that becomes Unknown is no claim: its author has not heard from the
other.

Of a Node, each round may be a verdict of its own, which does not show the
conflict. A contest is part of each verdict whose path has one of its changes,
or whose episode has one of them as an order to reboot or to drain the node.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Self, TypeVar, cast

from msgspec import UNSET
from msgspec.structs import replace

from recorder.explain.signals.actor import Actor
from recorder.explain.signals.marks import is_order
from recorder.explain.signals.requests import author_of
from recorder.explain.signals.signal import Signal
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.episode import Episode
from recorder.explain.verdict import (
    Contest,
    NodeContest,
    NodeContestSide,
    Verdict,
)
from recorder.facts.classify.paths import Element, Path, written_path
from recorder.model.facts import (
    AnnotationChanged,
    ConditionChanged,
    Cordoned,
    LabelChanged,
    Tainted,
    Uncordoned,
    Untainted,
)
from recorder.model.reference import EntryName

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
    name: tuple[str, str] | None
    """How the author is known, and its name, if it has one: only names that
    are known alike can be compared."""

    before: object
    after: object
    """What the author sets the field to; None if the author removed it."""

    at: datetime
    shown: Shown
    """What shows the change."""

    def answers(self, last: Self) -> bool:
        """Whether a different author soon restores the previous value."""
        return (
            self.after == last.before
            and self.before == last.after
            and UNKNOWN not in (last.after, self.after)
            and self.name is not None
            and last.name is not None
            and self.name[0] == last.name[0]
            and self.name != last.name
            and self.at - last.at <= LIMITS.contested
        )


class Turns(Generic[Field, Who, Shown]):
    """Finds alternating authors among changes in the order of the log."""

    def __init__(self) -> None:
        """Start without changes."""
        self._runs: dict[Field, list[list[Turn[Who, Shown]]]] = {}

    def take(self, field: Field, turn: Turn[Who, Shown]) -> None:
        """Take the next change of a field."""
        runs = self._runs.setdefault(field, [[turn]])
        run = runs[-1]
        answers = turn.answers(run[-1])
        if answers and (len(run) == 1 or run[-2].name == turn.name):
            run.append(turn)
            return
        if len(run) < TURNS_MIN:
            runs.pop()
        runs.append([run[-1], turn] if answers else [turn])

    def found(self) -> Iterator[tuple[Field, Sequence[Turn[Who, Shown]]]]:
        """Yield the longest runs so far in which two authors alternate."""
        for field, runs in self._runs.items():
            for run in runs:
                if len(run) >= TURNS_MIN:
                    yield field, run


CORDON: Path = ("spec", "unschedulable")
CORDONED = written_path(CORDON)

SAID_MAX = 3
"""How many contests a sentence names, the earliest."""

Claim = bool | str | None


def with_contests(
    chains: Sequence[Episode], verdicts: Iterable[Verdict]
) -> list[Verdict]:
    """Return the verdicts on a node with the contests they are part of."""
    contests = sorted(_contests(chains), key=lambda one: one.entries[0])
    if not contests:
        return list(verdicts)
    return [_with(verdict, contests, chains) for verdict in verdicts]


def _with(
    verdict: Verdict,
    contests: Sequence[NodeContest],
    chains: Sequence[Episode],
) -> Verdict:
    bearing = _bearing(verdict, chains)
    own = [one for one in contests if not bearing.isdisjoint(one.entries)]
    if not own:
        return verdict
    said = [verdict.sentence, *map(_sentence, own[:SAID_MAX])]
    cordon = next((one for one in own if one.path == CORDONED), None)
    return replace(
        verdict,
        contest=UNSET if cordon is None else _of_cordon(cordon),
        contests=own,
        sentence=" ".join(said),
    )


def _of_cordon(contest: NodeContest) -> Contest:
    by = {bool(side.value): side.actor for side in contest.sides}
    return Contest(
        cordoned_by=by[True],
        uncordoned_by=by[False],
        since=contest.since,
        until=contest.until,
        entries=contest.entries,
    )


def _bearing(verdict: Verdict, chains: Sequence[Episode]) -> set[EntryName]:
    """Return the entries of a verdict's path, and of orders in its episode.

    An order that was withdrawn in time led to nothing, but a contest over it
    is a contest over this node.
    """
    effect = verdict.effect.entry
    found = {effect}.union(*(step.entries for step in verdict.steps))
    if verdict.decision is not None:
        found.update(s.entry for s in verdict.decision.steps)
    for chain in chains:
        if any(effect == signal.entry for signal in chain.signals):
            found.update(m.entry for m in chain.marks if is_order(m))
    return found


def _contests(chains: Sequence[Episode]) -> Iterator[NodeContest]:
    turns = Turns[Path, Actor, Signal]()
    for path, turn in _turns(chains):
        turns.take(path, turn)
    for path, found in turns.found():
        yield NodeContest(
            path=written_path(path),
            sides=[
                NodeContestSide(
                    actor=turn.author, value=cast("Claim", turn.after)
                )
                for turn in found[:2]
            ],
            since=min(turn.at for turn in found),
            until=max(turn.at for turn in found),
            entries=[turn.shown.entry for turn in found],
        )


def _turns(
    chains: Sequence[Episode],
) -> Iterator[tuple[Path, Turn[Actor, Signal]]]:
    """Yield the changes of a node with their authors, in log order."""
    found = {
        signal.order: (changed, signal, chain)
        for chain in reversed(chains)
        for signal in reversed(chain.written)
        if (changed := _changed(signal)) and changed[1] != changed[2]
    }
    often = Counter(path for (path, *_), *_ in found.values())
    for place in sorted(found):
        (path, before, after), signal, chain = found[place]
        if often[path] < TURNS_MIN:
            continue
        # The field manager is that of the field in this very version. A
        # request is found by its time: only to within a second.
        author = signal.actor
        if author is None or not author.key:
            author = author_of(signal, chain.signals)
        if author is not None:
            name = ("", author.key) if author.key else None
            yield path, Turn(author, name, before, after, signal.at, signal)


def _changed(signal: Signal) -> tuple[Path, Claim, Claim] | None:
    """Return which field of a Node changed, from what to what."""
    fact = signal.stored.fact
    if fact.about != "Node":
        return None
    old: Claim = None
    new: Claim = None
    match fact.detail:
        case Cordoned() | Uncordoned():
            path = CORDON
            new = isinstance(fact.detail, Cordoned) or None
            old = not new or None
        case (
            Tainted(key=key, effect=effect) | Untainted(key=key, effect=effect)
        ):
            named = Element((("key", key), ("effect", effect)))
            path = "spec", "taints", named
            new = isinstance(fact.detail, Tainted) or None
            old = not new or None
        case LabelChanged(key=key, old=old, new=new):
            path = "metadata", "labels", key
        case AnnotationChanged(key=key, old=old, new=new):
            path = "metadata", "annotations", key
        case ConditionChanged(type=name, old=was, new=is_now):
            named = Element((("type", name),))
            path = "status", "conditions", named, "status"
            old = None if was is None else was.status
            new = None if is_now is None else is_now.status
        case _:
            return None
    return path, old, new


def _sentence(contest: NodeContest) -> str:
    one, other = (side.actor.name for side in contest.sides)
    what = (
        "cordon" if contest.path == CORDONED else f"changes of {contest.path}"
    )
    begin, end = contest.since, contest.until
    return (
        f"{one} and {other} undid each other's {what}:"
        f" {len(contest.entries)} changes from {begin:%H:%M:%S} to"
        f" {end:%H:%M:%S}."
    )
