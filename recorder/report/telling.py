"""What a postmortem tells of a verdict, whichever form it is written in."""

from collections.abc import Iterator, Sequence

from recorder.explain.verdict import Verdict
from recorder.model.moment import written
from recorder.report.verdicts import boots, decider, without

__all__ = ["doubts", "rows"]


def rows(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """Yield its names and values."""
    yield "Cause", f"{verdict.cause} ({verdict.confidence})"
    yield "Mode", verdict.mode
    if verdict.decision is not None:
        decided = verdict.decision
        yield "Decided", f"{decided.decision.value} by {decider(decided)}"
    booted = boots(verdict)
    if booted is not None:
        yield "Boot id", " → ".join(booted)
    if verdict.back_in_service_at is not None:
        yield "Back in service", written(verdict.back_in_service_at)


def doubts(verdict: Verdict) -> Sequence[tuple[str, Sequence[str]]]:
    """Return what speaks against it and what would tell more, with titles."""
    return [
        (
            "What else it could have been",
            [
                f"{rival.cause}, {'excluded' if rival.excluded else 'open'}:"
                f" {rival.because}"
                for rival in verdict.rivals
            ],
        ),
        (
            "What contradicts it",
            [
                f"{against.sign.stored.entry} {against.sign.says}:"
                f" {against.but}"
                for against in verdict.contradictions
            ],
        ),
        (
            "What the evidence leaves out",
            [without(verdict)] if verdict.left_out else [],
        ),
        (
            "Gaps in the time that it rests on",
            [f"gap {gap}" for gap in verdict.gaps],
        ),
        (
            "What was not recorded",
            [
                f"{lack.evidence} would tell {lack.would_tell}"
                for lack in verdict.missing
            ],
        ),
    ]
