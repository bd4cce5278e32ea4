"""Answers of `recorder postmortem`: everything about one incident of a node.

It names the position of the log that it rests on, so that anybody can ask the
same again later and get the same bytes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from recorder.explain.verdict import Evidence, Verdict
from recorder.knowledge import Knowledge
from recorder.model.moment import shifted, written
from recorder.model.reference import EntryName
from recorder.report.coverage import Coverage
from recorder.report.factlines import document as fact_document
from recorder.report.gap import Gap
from recorder.report.happened import LOOKBACK
from recorder.report.impact import (
    Impact,
    ImpactQuestion,
    ask_impact,
    lasting,
    totals,
)
from recorder.report.incident import ask_verdict
from recorder.report.ordering import order_of
from recorder.report.ports import Reading
from recorder.report.verdicts import document as verdict_document
from recorder.report.why import Why, WhyQuestion, ask_why, node_name
from recorder.report.window import Window, optional_time

__all__ = ["Postmortem", "PostmortemQuestion", "ask_postmortem"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PostmortemQuestion:
    """Which node and when, or which incident."""

    node: str | None
    incident: EntryName | None
    """By the id of a verdict; None where a node is named."""

    window: Window

    @classmethod
    def about(cls, subject: str, window: Window) -> Self:
        """Ask about ``node/NAME``, or the id of a verdict.

        Raises:
            ConfigError: another kind is named.
        """
        try:
            incident = EntryName.parse(subject)
        except ValueError:
            return cls(node=node_name(subject), incident=None, window=window)
        return cls(node=None, incident=incident, window=window)


@dataclass(frozen=True, slots=True, kw_only=True)
class Postmortem:
    """What is known of an incident."""

    cluster: str
    log: int
    position: int
    why: Why
    impact: Impact
    gaps: Sequence[Gap]
    """Those that a verdict rests on, also where they lie before the
    window."""

    @property
    def node(self) -> str:
        """The node that it is about."""
        return self.why.question.node

    @property
    def verdicts(self) -> Sequence[Verdict]:
        """What happened, in order."""
        return self.why.verdicts

    @property
    def coverage(self) -> Coverage:
        """What may be missing."""
        return self.why.coverage

    @property
    def timeline(self) -> Sequence[Evidence]:
        """The evidence of all verdicts, each once, as it happened."""
        found: dict[tuple[int, int], Evidence] = {}
        for verdict in self.verdicts:
            for one in verdict.evidence:
                stored = one.sign.stored
                found.setdefault((stored.entry.position, stored.index), one)
        place = order_of(one.sign.stored for one in found.values())
        return sorted(found.values(), key=lambda one: place(one.sign.stored))

    @property
    def command(self) -> str:
        """What gives the same report again, whatever came since."""
        window = self.why.question.window
        words = ["recorder postmortem", f"node/{self.node}"]
        if window.since is not None:
            words.append(f"--since {written(window.since)}")
        if window.until is not None:
            words.append(f"--until {written(window.until)}")
        return " ".join([*words, f"--as-of {self.log}/{self.position}"])

    @property
    def origin(self) -> str:
        """Say what it rests on: the log, its cluster, and the window."""
        window = self.coverage.window
        begin = "the beginning"
        if window.since is not None:
            begin = written(window.since)
        end = "" if window.until is None else f" to {written(window.until)}"
        return (
            f"From log {self.log} of cluster {self.cluster} up to entry"
            f" {self.log}/{self.position}, from {begin}{end}"
        )

    @property
    def summary(self) -> Sequence[str]:
        """Three sentences: what and why, what it cost, how sure it is."""
        return [self._what(), self._cost(), self._surety()]

    def _what(self) -> str:
        if not self.verdicts:
            return f"Nothing is known to have happened to {self.node}."
        return " ".join(verdict.sentence for verdict in self.verdicts)

    def _cost(self) -> str:
        hits = self.impact.workloads
        if not hits:
            return "No workload was hit, as far as is known."
        total = totals(hits)
        names = ", ".join(str(hit.workload) for hit in hits[:3])
        more = f" and {len(hits) - 3} more" if len(hits) > 3 else ""  # noqa: PLR2004
        pods = "1 Pod" if total["pods"] == 1 else f"{total['pods']} Pods"
        still = lasting(hits, self.impact.coverage.counted_until)
        return (
            f"It hit {names}{more}: {pods} of gangs with"
            f" {total['gpus']} GPUs, and cost at least"
            f" {total['gpu_hours_lost']:.2f} GPU-hours"
            f"{'' if still is None else f'; {still}'}."
        )

    def _surety(self) -> str:
        missing = list(dict.fromkeys(self._missing()))
        told = (
            f"; {', '.join(missing)} would have told more" if missing else ""
        )
        sure = self.verdicts[-1].confidence if self.verdicts else "unknown"
        whole = (
            "nothing is missing from the record"
            if self.coverage.complete and not self.gaps
            else "the record has gaps in this time"
        )
        return f"The cause is {sure}: {whole}{told}."

    def _missing(self) -> Iterator[str]:
        for verdict in self.verdicts:
            for one in verdict.missing:
                yield one.evidence

    def document(self) -> dict[str, Any]:
        """Return it as the public interface shows it."""
        window = self.why.question.window
        return {
            "question": {
                "cluster": self.cluster,
                "node": self.node,
                "since": optional_time(window.since),
                "until": optional_time(window.until),
            },
            "summary": list(self.summary),
            "timeline": [
                {**fact_document(one.sign.stored), "role": one.role}
                for one in self.timeline
            ],
            "verdicts": [verdict_document(v) for v in self.verdicts],
            "impact": self.impact.document(),
            "coverage": self.coverage.document(),
            "verdict_gaps": [gap.document() for gap in self.gaps],
            "log": {"id": self.log, "position": self.position},
        }


async def ask_postmortem(
    reading: Reading,
    question: PostmortemQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Postmortem:
    """Gather what is known of an incident.

    Raises:
        NotFoundError: the log has no such node or incident.
    """
    node, window = question.node, question.window
    reading = await reading.pinned(reading.log.size)
    if node is None:
        assert question.incident is not None, "one of the two is named"
        verdict = await ask_verdict(
            reading, question.incident, knowledge, now=now
        )
        node, window = verdict.node, _around(verdict)
    why = await ask_why(
        reading, WhyQuestion(node=node, window=window), knowledge, now=now
    )
    if window == Window() and why.verdicts:
        window = _around(why.verdicts[-1])
        why = await ask_why(
            reading, WhyQuestion(node=node, window=window), knowledge, now=now
        )
    impact = await ask_impact(
        reading,
        ImpactQuestion(nodes=(node,), rack=None, labels=(), window=window),
        knowledge,
        now=now,
    )
    return Postmortem(
        cluster=reading.log.cluster_name,
        log=reading.log.id,
        position=reading.log.size,
        why=why,
        impact=impact,
        gaps=await _gaps(reading, why),
    )


async def _gaps(reading: Reading, why: Why) -> Sequence[Gap]:
    """Return the gaps that verdicts name, in the order of the log."""
    named = {gap for verdict in why.verdicts for gap in verdict.gaps}
    found = {gap.opened: gap for gap in why.coverage.gaps}
    since = why.question.window.since
    if since is not None and named - found.keys():
        async for gap in reading.gaps(shifted(since, -LOOKBACK)):
            found.setdefault(gap.opened, gap)
    return [found[name] for name in sorted(named & found.keys())]


def _around(verdict: Verdict) -> Window:
    """Return the time of a verdict, to the end of what the log vouches for."""
    return Window(verdict.began_at, None)
