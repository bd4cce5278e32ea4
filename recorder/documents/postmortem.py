"""Postmortems as the public interface shows them."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Self

from recorder.coverage.coverage import Coverage
from recorder.coverage.hole import Hole
from recorder.documents.lessons import action_items, factors
from recorder.explain.verdict import Verdict
from recorder.model.document import Document
from recorder.questions.facts import ListedFact, listed_fact
from recorder.questions.impact import Impact
from recorder.questions.phases import Phase, phases
from recorder.questions.postmortem import Postmortem
from recorder.questions.sentences import counted, lasting

__all__ = ["PostmortemDocument", "summary"]


class LogDocument(Document, frozen=True, kw_only=True):
    """What it rests on."""

    id: int
    position: int


class PostmortemQuestionDocument(Document, frozen=True, kw_only=True):
    """What it is about."""

    cluster: str
    subject: str
    """As the command line takes it."""

    node: str | None
    """Null for a report of several nodes."""

    nodes: Sequence[str]
    since: datetime | None
    until: datetime | None

    @classmethod
    def of(cls, postmortem: Postmortem) -> Self:
        """Return the document of what was asked."""
        window, nodes = postmortem.question.window, postmortem.nodes
        return cls(
            cluster=postmortem.cluster,
            subject=postmortem.question.words,
            node=nodes[0] if len(nodes) == 1 else None,
            nodes=nodes,
            since=window.since,
            until=window.until,
        )


class PostmortemDocument(Document, frozen=True, kw_only=True):
    """What is known of an incident."""

    question: PostmortemQuestionDocument
    summary: Sequence[str]
    phases: Sequence[Phase]
    factors: Sequence[str]
    action_items: Sequence[str]
    timeline: Sequence[ListedFact]
    verdicts: Sequence[Verdict]
    impact: Impact
    coverage: Coverage
    verdict_gaps: Sequence[Hole]
    log: LogDocument

    @classmethod
    def of(cls, postmortem: Postmortem) -> Self:
        """Return the document of an answer."""
        return cls(
            question=PostmortemQuestionDocument.of(postmortem),
            summary=summary(postmortem),
            phases=phases(postmortem),
            factors=factors(postmortem),
            action_items=action_items(postmortem),
            timeline=[
                listed_fact(one.sign.stored, role=one.role)
                for one in postmortem.timeline
            ],
            verdicts=postmortem.verdicts,
            impact=postmortem.impact,
            coverage=postmortem.coverage,
            verdict_gaps=postmortem.gaps,
            log=LogDocument(id=postmortem.log, position=postmortem.position),
        )


def summary(postmortem: Postmortem) -> Sequence[str]:
    """Three sentences: what and why, what it cost, how sure it is."""
    return [_what(postmortem), _cost(postmortem), _surety(postmortem)]


def _what(postmortem: Postmortem) -> str:
    if not postmortem.verdicts:
        return f"No incidents are recorded for {postmortem.subject}."
    return " ".join(verdict.sentence for verdict in postmortem.verdicts)


def _cost(postmortem: Postmortem) -> str:
    hits = postmortem.impact.workloads
    if not hits:
        return "No affected workloads are recorded."
    total = postmortem.impact.totals
    names = ", ".join(str(hit.workload) for hit in hits[:3])
    more = f" and {len(hits) - 3} more" if len(hits) > 3 else ""  # noqa: PLR2004
    still = lasting(hits, postmortem.impact.coverage.counted_until)
    return (
        f"It affected {names}{more}: {counted(total.pods, 'Pod')} ended,"
        f" {counted(total.gpus, 'GPU')} affected, at least"
        f" {total.gpu_hours_lost:.2f} GPU-hours lost"
        f"{'' if still is None else f'; {still}'}."
    )


def _surety(postmortem: Postmortem) -> str:
    missing = list(dict.fromkeys(_missing(postmortem)))
    told = f"; not recorded: {', '.join(missing)}" if missing else ""
    sure = (
        postmortem.verdicts[-1].confidence
        if postmortem.verdicts
        else "unknown"
    )
    whole = (
        "the record is complete"
        if postmortem.coverage.complete and not postmortem.gaps
        else "the record has gaps in this window"
    )
    return f"Confidence in the cause: {sure}; {whole}{told}."


def _missing(postmortem: Postmortem) -> Iterator[str]:
    for verdict in postmortem.verdicts:
        for one in verdict.missing:
            yield one.evidence
