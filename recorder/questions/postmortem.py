"""Answers of `recorder postmortem`: everything about one incident of a node.

It names the position of the log that it rests on, so that anybody can ask the
same again later and get the same bytes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from recorder.coverage.coverage import Coverage
from recorder.coverage.hole import Gap
from recorder.explain.verdict import Evidence, Verdict
from recorder.knowledge import Knowledge
from recorder.model.fact import StoredFact
from recorder.model.moment import shifted, written
from recorder.model.reference import EntryName
from recorder.model.window import Window
from recorder.questions.impact import Impact, ImpactQuestion, ask_impact
from recorder.questions.incident import ask_verdict
from recorder.questions.loading.nodes import LOOKBACK
from recorder.questions.ports import Reading
from recorder.questions.references import node_name
from recorder.questions.why import Why, WhyQuestion, ask_why

__all__ = ["Postmortem", "PostmortemQuestion", "ask_postmortem", "order_of"]


Place = tuple[datetime, int, int]

REST = timedelta(seconds=1) - timedelta(microseconds=1)
NONE = timedelta()


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


def order_of(facts: Iterable[StoredFact]) -> Callable[[StoredFact], Place]:
    """Return the place of each fact among all of these.

    Much of what Kubernetes says of a time is cut to the second: it was some
    time in that second, and not at its beginning. Within it our own clock
    decides, which saw it later; then the place in the log, which keeps the
    versions of an object in order. The cluster's clock may be ahead of ours,
    by as much at least as it told of incarnations before we saw them.
    """
    ahead = max(
        (
            stored.fact.occurred_at - stored.observed_at
            for stored in facts
            if stored.fact.occurred_at is not None
        ),
        default=NONE,
    )

    def place(stored: StoredFact) -> Place:
        at = stored.at
        if stored.fact.occurred_at is not None and at.microsecond == 0:
            seen = shifted(stored.observed_at, max(ahead, NONE))
            at = min(max(at, seen), shifted(at, REST))
        return at, stored.entry.position, stored.index

    return place
