"""Flaps: claims of one port that follow each other for as long as it flaps.

A port that flaps is claimed of ten times a second. All of it is in the log,
and listed there. What happened is the same with the claims by which it began
and ended, so only these are read to explain it.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from recorder.facts.bearing import is_of_end
from recorder.model.fact import StoredFact
from recorder.model.facts import Claimed

__all__ = ["without_flaps"]

WITHIN: Final = timedelta(minutes=1)
"""Claims of one port that are not further apart belong to one run."""

CLAIMS_MAX: Final = 8
"""Of a run that is no flapping: all of its claims are transitions."""

Run = list[StoredFact]


def without_flaps(facts: Sequence[StoredFact]) -> Sequence[StoredFact]:
    """Return facts, in the order of the log, without what only repeats.

    Of a run of more than `CLAIMS_MAX` states of one port, type and source,
    three are kept at most: the first, the last, and, where these claim the
    same state, the first of another.
    """
    runs: dict[tuple[str, str, str], list[Run]] = {}
    for stored in facts:
        detail = stored.fact.detail
        if not isinstance(detail, Claimed) or _state(stored) is None:
            continue
        if not is_of_end(detail):
            continue
        of = runs.setdefault((detail.type, detail.source, detail.subject), [])
        if not of or _at(stored) - _at(of[-1][-1]) > WITHIN:
            of.append([])
        of[-1].append(stored)
    left_out = {
        (one.entry, one.index)
        for of in runs.values()
        for run in of
        for one in _repetitions(run)
    }
    if not left_out:
        return facts
    return [one for one in facts if (one.entry, one.index) not in left_out]


def _repetitions(run: Run) -> Iterable[StoredFact]:
    if len(run) <= CLAIMS_MAX:
        return ()
    if _state(run[0]) == _state(run[-1]):
        turned = (
            number
            for number, one in enumerate(run)
            if _state(one) != _state(run[0])
        )
        other = next(turned, 0)
        if other:
            return [*run[1:other], *run[other + 1 : -1]]
    return run[1:-1]


def _at(stored: StoredFact) -> datetime:
    return stored.fact.occurred_at or stored.observed_at


def _state(stored: StoredFact) -> str | None:
    """Return the state that a claim names, as those of links do."""
    detail = stored.fact.detail
    data = detail.data if isinstance(detail, Claimed) else None
    state = data.get("state") if isinstance(data, Mapping) else None
    return state if isinstance(state, str) else None
