"""Flaps: how the claims of a port that flaps began and ended.

A port that flaps is claimed of ten times a second. All of it is in the log,
and listed there. What happened is the same with the claims by which it began
and ended, so only these are read to explain it. Time is divided into beats,
so that a store finds the same claims without reading those between.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from recorder.facts.bearing import Port, port_of, state_of_port
from recorder.model.fact import StoredFact

BEAT_SECONDS: Final = 600

CLAIMS_MAX: Final = 8
"""Of one port in a beat that is no flapping: all of them are transitions."""


class Run(NamedTuple):
    """Claims of a port that flaps in each of the beats between them."""

    first: StoredFact
    second: StoredFact
    last: StoredFact


def folded(run: Run) -> list[StoredFact]:
    """Return how a port began and ended to flap.

    Where it ended as it began, also that it was otherwise between.
    """
    if state_of_port(run.first.fact) != state_of_port(run.last.fact):
        return [run.first, run.last]
    return [*run]


def without_flaps(facts: Sequence[StoredFact]) -> Sequence[StoredFact]:
    """Return facts, in the order of the log, without what only repeats."""
    ports: dict[Port, list[StoredFact]] = {}
    for stored in facts:
        port = port_of(stored.fact)
        if port is not None:
            ports.setdefault(port, []).append(stored)
    left_out = {
        (one.entry, one.index)
        for claims in ports.values()
        if len(claims) > CLAIMS_MAX
        for one in _repetitions(claims)
    }
    if not left_out:
        return facts
    return [one for one in facts if (one.entry, one.index) not in left_out]


def _repetitions(claims: list[StoredFact]) -> Iterable[StoredFact]:
    claims.sort(key=lambda one: (one.at, one.entry.position))
    run: list[StoredFact] = []
    last = 0
    for beat, group in groupby(claims, _beat):
        of_beat = list(group)
        is_flapping = len(of_beat) > CLAIMS_MAX
        if run and not (is_flapping and beat == last + 1):
            yield from _between(run)
            run = []
        if is_flapping:
            run += of_beat
        last = beat
    if run:
        yield from _between(run)


def _between(run: list[StoredFact]) -> Iterable[StoredFact]:
    kept = {one.entry for one in folded(Run(run[0], run[1], run[-1]))}
    return (one for one in run if one.entry not in kept)


def _beat(stored: StoredFact) -> int:
    return int(stored.at.timestamp() // BEAT_SECONDS)
