"""What is to be told now: what was found against what was told.

A function of its arguments; what it returns is put into the outbox, where
each message is once, whoever else found the same.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from recorder.answers.growing import continued, successor
from recorder.answers.node_questions import Labels
from recorder.explain.knowledge import matches
from recorder.notification.message import Kind, Message, Subject, Told
from recorder.notification.rules import Condition, Rule

__all__ = ["Found", "Settling", "Standing", "is_wanted", "news_of"]

Standing = Mapping[str, Mapping[str, str]]
"""Of nodes their labels, as they were when something happened to them."""

NO_LONGER = "the record shows no such incident any more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a log shows at one moment."""

    subjects: Sequence[Subject]
    standing: Mapping[str, Standing]
    """By incident."""

    position: int
    """Up to where the log was judged."""

    since: datetime
    """What began before this may be missing."""

    until: datetime
    """How late it is in the log."""


class _Unsettled(NamedTuple):
    digest: str
    since: datetime


@dataclass(slots=True)
class Settling:
    """Verdicts that have not stayed the same for long enough yet.

    It is not kept: after a restart they wait once more.
    """

    waiting: dict[tuple[str, str], _Unsettled] = field(default_factory=dict)

    def is_settled(
        self, rule: Rule, name: str, subject: Subject, now: datetime
    ) -> bool:
        """Return whether a verdict stayed the same for as long as it must."""
        after = rule.settled_after
        if after <= timedelta():
            return True
        key, digest = (rule.name, name), subject.digest
        known = self.waiting.get(key)
        if known is None or known.digest != digest:
            self.waiting[key] = _Unsettled(digest, now)
            return False
        return now - known.since >= after

    def keep(self, rule: Rule, names: Collection[str]) -> None:
        """Forget what is waited for no more."""
        for key in [k for k in self.waiting if k[0] == rule.name]:
            if key[1] not in names:
                del self.waiting[key]


def news_of(
    rule: Rule,
    found: Found,
    told: Collection[Told],
    *,
    begun: datetime,
    settling: Settling,
    now: datetime,
) -> Sequence[Message]:
    """Return what a rule has to tell, in order of time.

    Args:
        rule: that tells.
        found: what the log shows.
        told: the newest message of each subject by this rule.
        begun: since when it tells; what was over before is not news.
        settling: what waits to stay the same.
        now: the time.
    """
    known = {one.name: one for one in told}
    traces = {name: one.subject for name, one in known.items()}
    names = continued(traces, found.subjects)
    pairs = [
        (subject, None if name is None else known[name])
        for subject, name in zip(found.subjects, names, strict=True)
    ]
    messages: list[Message] = []
    waiting = set()
    for subject, one in pairs:
        if not _is_news(rule, found, subject, one, begun):
            continue
        name = subject.id if one is None else one.name
        waiting.add(name)
        if settling.is_settled(rule, name, subject, now):
            messages.append(_message(rule, name, subject, one, now))
    settling.keep(rule, waiting)
    kept = {one.name for _, one in pairs if one is not None}
    gone = [one for one in told if one.name not in kept]
    messages += _withdrawals(rule, found, gone, now)
    return messages


def _is_news(
    rule: Rule,
    found: Found,
    subject: Subject,
    one: Told | None,
    begun: datetime,
) -> bool:
    if one is not None:
        # Of an incident only a part is read if it began before.
        is_whole = (
            subject.kind is Kind.GAP or one.subject.began_at >= found.since
        )
        return (
            is_whole
            and one.position < found.position
            and one.subject.digest != subject.digest
        )
    over = subject.over_at
    return (over is None or over >= begun) and is_wanted(
        rule.when,
        subject,
        found.standing.get(subject.id, {}),
        until=found.until,
    )


def _message(
    rule: Rule, name: str, subject: Subject, one: Told | None, now: datetime
) -> Message:
    return Message(
        rule=rule.name,
        name=name,
        number=1 if one is None else one.number + 1,
        now=subject,
        was=None if one is None else one.subject,
        first_at=now if one is None else one.first_at,
    )


def _withdrawals(
    rule: Rule, found: Found, gone: Collection[Told], now: datetime
) -> Iterator[Message]:
    """Yield that incidents are no more that should have been found."""
    for one in gone:
        last = one.subject
        if (
            last.kind is Kind.GAP
            or last.withdrawn
            or last.began_at < found.since
            or one.position >= found.position
        ):
            continue
        became = successor(last, found.subjects)
        why = NO_LONGER
        if became is not None:
            why = f"it is a part of incident {became.id}"
        subject = msgspec.structs.replace(last, withdrawn=why)
        yield _message(rule, one.name, subject, one, now)


def is_wanted(
    condition: Condition,
    subject: Subject,
    standing: Standing,
    *,
    until: datetime,
) -> bool:
    """Return whether a rule tells of a subject.

    Args:
        condition: of the rule.
        subject: an incident or a gap.
        standing: the labels of its nodes.
        until: how late it is: a gap that is open lasts until then.
    """
    after = condition.gap_after
    if subject.kind is Kind.GAP:
        if after is None or (subject.over_at or until) - subject.at <= after:
            return False
        wanted = condition.resource
        return not wanted or matches(wanted, subject.resource)
    return after is None and (
        _is_one(subject.happened, condition.happened)
        and _is_one(subject.cause, condition.cause)
        and _is_one(subject.confidence, condition.confidence)
        and _has_node(condition, subject, standing)
        and _has_namespace(condition, subject)
    )


def _is_one(value: str, wanted: Sequence[str]) -> bool:
    return not wanted or value in wanted


def _has_node(
    condition: Condition, subject: Subject, standing: Standing
) -> bool:
    """Return whether one node has the name, the labels and the rack."""
    labels = Labels(condition.rack, tuple(condition.labels.items()))
    return any(
        (not condition.node or matches(condition.node, node))
        and labels.fit(standing.get(node, {}))
        for node in subject.nodes
    )


def _has_namespace(condition: Condition, subject: Subject) -> bool:
    wanted = condition.namespace
    return not wanted or any(
        matches(wanted, namespace) for namespace in subject.namespaces
    )
