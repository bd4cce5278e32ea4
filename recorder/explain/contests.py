"""Contests: two who undo each other's cordon of one node.

Each round is a verdict of its own, in which nobody is seen to be wrong: only
side by side they show that two programs disagree about the node.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from recorder.explain.signals import Actor, Signal, Topic, is_same
from recorder.explain.signals.requests import author_of
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.episodes import Episode
from recorder.explain.verdict import Contest, Verdict

__all__ = ["with_contests"]

ACTS_MIN = 3
"""Cordoned, uncordoned, and cordoned again."""

Act = tuple[Signal, Actor]


def with_contests(
    chains: Sequence[Episode], verdicts: Iterable[Verdict]
) -> list[Verdict]:
    """Return verdicts of a node with the contests that they are part of."""
    contests = [_contest(run) for run in _runs(_acts(chains))]
    return [_with(verdict, contests) for verdict in verdicts]


def _with(verdict: Verdict, contests: Iterable[Contest]) -> Verdict:
    for contest in contests:
        if verdict.effect.stored.entry in contest.entries:
            said = f"{verdict.sentence} {_sentence(contest)}"
            return replace(verdict, contest=contest, sentence=said)
    return verdict


def _acts(chains: Sequence[Episode]) -> list[Act]:
    """Return who cordoned and uncordoned a node, in the order of the log."""
    found: dict[tuple[int, int], Act] = {}
    for chain in chains:
        for signal in chain.signals:
            author = author_of(signal, chain.signals)
            if signal.topic is Topic.CORDON and author is not None:
                place = signal.position, signal.stored.index
                found[place] = signal, author
    return [found[place] for place in sorted(found)]


def _runs(acts: Sequence[Act]) -> Iterator[list[Act]]:
    """Yield the longest runs in which two take turns."""
    run: list[Act] = []
    for act in acts:
        if run and not _goes_on(run, act):
            if len(run) >= ACTS_MIN:
                yield run
            run = run[-1:] if _answers(run[-1], act) else []
        run.append(act)
    if len(run) >= ACTS_MIN:
        yield run


def _goes_on(run: Sequence[Act], act: Act) -> bool:
    """Whether an act undoes the last one, by the same as in each turn."""
    turn = ACTS_MIN - 1
    return _answers(run[-1], act) and (
        len(run) < turn or is_same(run[-turn][1], act[1])
    )


def _answers(before: Act, act: Act) -> bool:
    """Whether somebody soon undoes what another did."""
    (first, one), (second, other) = before, act
    return (
        first.over != second.over
        and not is_same(one, other)
        and bool(one.key)
        and bool(other.key)
        and second.stored.at - first.stored.at <= LIMITS.contested
    )


def _contest(run: Sequence[Act]) -> Contest:
    cordoned = next(actor for signal, actor in run if not signal.over)
    uncordoned = next(actor for signal, actor in run if signal.over)
    return Contest(
        cordoned_by=cordoned,
        uncordoned_by=uncordoned,
        since=run[0][0].stored.at,
        until=run[-1][0].stored.at,
        entries=[signal.stored.entry for signal, _ in run],
    )


def _sentence(contest: Contest) -> str:
    begin, end = contest.since, contest.until
    return (
        f"{contest.cordoned_by.name} and {contest.uncordoned_by.name} undid"
        f" each other's cordon: {len(contest.entries)} changes from"
        f" {begin:%H:%M:%S} to {end:%H:%M:%S}."
    )
