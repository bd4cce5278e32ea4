"""Answers about the laboratory against what was done there."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from recorder.explain.ending import Ending
from tests.corpus.gangs.laboratory import Expected

__all__ = ["meant", "problems"]


def meant(expected: Expected, endings: Sequence[Ending]) -> Sequence[Ending]:
    """Return the endings of the time of an act."""
    since = datetime.fromisoformat(expected.since)
    until = datetime.fromisoformat(expected.until)
    return [one for one in endings if since <= one.at < until]


def problems(expected: Expected, endings: Sequence[Ending]) -> Iterator[str]:
    """Yield what the endings of a workload say wrongly of one act."""
    found = meant(expected, endings)
    words = [str(one.ended_by) for one in found]
    if words != [expected.ended_by]:
        yield f"ended by {words}, not {expected.ended_by}"
        return
    (ending,) = found
    if ending.pods:
        yield from _places(expected, ending)
    if expected.preemptor is not None:
        yield from _preemptor(expected, ending)
    elif expected.author not in {None, _author(ending)}:
        yield f"by {_author(ending)}, not {expected.author}"
    struck_nodes = {one.node for one in ending.every_verdict}
    if expected.act in {"crash", "drain"} and struck_nodes != {
        *expected.nodes
    }:
        yield f"verdicts on {sorted(struck_nodes)}, not {expected.nodes}"


def _places(expected: Expected, ending: Ending) -> Iterator[str]:
    lost = {*ending.pods, *ending.stopped}
    if not {*expected.pods} <= lost:
        yield f"lost {sorted(lost)}, not {expected.pods}"
    # What was stopped with them was on other nodes.
    if ending.node not in expected.nodes or not {*expected.nodes} <= {
        *ending.nodes
    }:
        yield f"on {ending.nodes}, not {expected.nodes}"
    names = [one.pod for one in ending.members]
    if len(names) != len({*names}):
        yield f"a Pod on two nodes: {sorted(names)}"


def _author(ending: Ending) -> str | None:
    decision = ending.verdict and ending.verdict.decision
    actor = ending.actor or (decision.actor if decision else None)
    return None if actor is None else actor.name


def _preemptor(expected: Expected, ending: Ending) -> Iterator[str]:
    one = ending.preemptor
    if one is None:
        yield "preempted by nothing"
        return
    name = f"{one.kind}/{one.namespace}/{one.name}"
    author = None if one.actor is None else one.actor.name
    if (name, author) != (expected.preemptor, expected.author):
        yield f"preempted by {name} of {author}"
