"""What ended a workload, as people read it on a screen."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from recorder.explain.ending import Ending
from recorder.explain.verdict import Verdict
from recorder.model.moment import written
from recorder.questions.sentences import counted
from recorder.questions.why_workload import WhyWorkload
from recorder.render.text import plain
from recorder.render.verdict import WIDTH, cut, path_lines, row_lines

__all__ = ["why_workload_lines"]

NAMES_SHOWN = 8
"""Pods that are named; a gang may have thousands."""

RECORDS_SHOWN = 8
"""Records of one ending, unless all are wanted."""


def why_workload_lines(
    answer: WhyWorkload, *, verbose: bool = False
) -> Iterator[str]:
    """Yield how it was last seen, then what ended it, the newest in full.

    ``verbose`` shows all of them in full.
    """
    yield from wrap(plain(answer.sentence), WIDTH)
    for place, ending in enumerate(reversed(answer.endings)):
        yield ""
        if place and not verbose:
            date = f"{ending.at:%Y-%m-%d}"
            yield from row_lines("before", f"{date} {ending.sentence}")
        else:
            yield from _ending(ending, verbose=verbose)


def _ending(ending: Ending, *, verbose: bool) -> Iterator[str]:
    yield from wrap(plain(ending.sentence), WIDTH)
    yield ""
    for name, value in _facts_of(ending, verbose=verbose):
        yield from row_lines(name, value)
    if ending.evidence:
        yield ""
        yield from _records(ending, verbose=verbose)
    if ending.verdict is not None:
        yield ""
        yield from _node(ending.verdict)
    if ending.missing:
        yield ""
    for one in ending.missing:
        yield from row_lines(
            "missing", f"{one.evidence}: would show {one.would_tell}"
        )


def _facts_of(ending: Ending, *, verbose: bool) -> Iterator[tuple[str, str]]:
    yield "ended by", f"{ending.ended_by} ({ending.confidence})"
    if ending.outcome is not None:
        yield "outcome", ending.outcome
    yield "at", written(ending.at)
    if ending.running_again_at is not None:
        yield "again", written(ending.running_again_at)
    for name, pods in (("pods", ending.pods), ("stopped", ending.stopped)):
        if pods:
            yield name, _few(pods, verbose=verbose)
    if ending.gpu_hours_lost:
        yield "lost", f"at least {ending.gpu_hours_lost:.2f} GPU-hours"


def _node(verdict: Verdict) -> Iterator[str]:
    """Yield what happened to the node behind it, in its steps."""
    happened = f"{verdict.happened}, {verdict.mode}"
    cause = f"{verdict.cause} ({verdict.confidence})"
    yield from row_lines("node", f"{verdict.node}: {happened}; {cause}")
    yield from path_lines(verdict)
    at = written(verdict.not_after)
    yield from row_lines("more", f"recorder why node/{verdict.node} --at {at}")


def _few(names: Sequence[str], *, verbose: bool) -> str:
    shown = names if verbose else names[:NAMES_SHOWN]
    more = len(names) - len(shown)
    rest = f" and {more} more" if more else ""
    return f"{', '.join(shown)}{rest}"


def _records(ending: Ending, *, verbose: bool) -> Iterator[str]:
    shown = ending.evidence
    if not verbose:
        shown = shown[:RECORDS_SHOWN]
    width = max(len(str(record.entry)) for record in shown)
    day = None
    for record in shown:
        if record.at.date() != day:
            day = record.at.date()
            yield f"  {day:%Y-%m-%d}"
        entry = str(record.entry).ljust(width)
        yield f"  {record.at:%H:%M:%S}  {entry}  {cut(record.says)}"
    if more := len(ending.evidence) - len(shown):
        yield from row_lines("...", f"{counted(more, 'more record')}: see -v")
