"""Which messages are new: what a log shows, compared with what was reported.

Pure. The outbox stores each message once, even if several processes return
the same one.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from recorder.answers.growing import continued, successor
from recorder.answers.places import Labels
from recorder.explain.knowledge import matches
from recorder.model.outcomes import EndedBy
from recorder.notification.message import Kind, Message, Reported, Subject
from recorder.notification.rules import Condition, Rule

NodeLabels = Mapping[str, Mapping[str, str]]
"""Labels of each node at the time of an incident, by node."""

ANY = frozenset(EndedBy) - {EndedBy.COMPLETION}

NO_LONGER = "the record shows no such incident any more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a log shows at one moment."""

    subjects: Sequence[Subject]
    labels: Mapping[str, NodeLabels]
    """Labels of the nodes, by incident."""

    position: int
    """Up to where the log was judged."""

    since: datetime
    """Incidents that began before this may be missing."""

    until: datetime
    """The current time of the log; the end of a tape that is over."""


class _Unsettled(NamedTuple):
    digest: str
    since: datetime


@dataclass(slots=True)
class Settling:
    """Verdicts that have not stayed the same for long enough yet.

    Not stored: after a restart they wait again.
    """

    by_incident: bool = False
    """Whether a process looks once, and so has seen no verdict before: what
    began, or was over, for long enough has settled."""

    waiting: dict[tuple[str, str], _Unsettled] = field(default_factory=dict)
    settles_at: list[datetime] = field(default_factory=list)
    """By incident: when those settle that have not."""

    def is_settled(
        self, rule: Rule, name: str, subject: Subject, now: datetime
    ) -> bool:
        """Return whether a verdict has been the same for long enough."""
        after = rule.settled_after
        if after <= timedelta():
            return True
        if self.by_incident:
            at = (subject.over_at or subject.began_at) + after
            if at > now:
                self.settles_at.append(at)
            return at <= now
        key, digest = (rule.name, name), subject.digest
        known = self.waiting.get(key)
        if known is None or known.digest != digest:
            self.waiting[key] = _Unsettled(digest, now)
            return False
        return now - known.since >= after

    def keep(self, rule: Rule, names: Collection[str]) -> None:
        """Forget the verdicts of a rule but those with these names."""
        for key in [k for k in self.waiting if k[0] == rule.name]:
            if key[1] not in names:
                del self.waiting[key]


def news_of(
    rule: Rule,
    found: Found,
    reported: Collection[Reported],
    *,
    begun: datetime,
    settling: Settling,
    now: datetime,
) -> Sequence[Message]:
    """Return the new messages of a rule; withdrawals are last.

    Args:
        rule: the rule.
        found: what the log shows.
        reported: the newest message of this rule about each subject.
        begun: when the rule began; incidents over before are not news.
        settling: verdicts that have not settled yet.
        now: the current time.
    """
    pairs = _pairs(found.subjects, reported)
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
    gone = [one for one in reported if one.name not in kept]
    messages += _withdrawals(rule, found, gone, now)
    return messages


def _pairs(
    subjects: Sequence[Subject], reported: Collection[Reported]
) -> Sequence[tuple[Subject, Reported | None]]:
    """Return each subject with what was reported about it before.

    What ended one workload never continues what ended another.
    """
    parts: dict[str, list[Subject]] = {}
    for subject in subjects:
        parts.setdefault(subject.workload, []).append(subject)
    pairs: list[tuple[Subject, Reported | None]] = []
    for workload, some in parts.items():
        known = {
            one.name: one
            for one in reported
            if one.subject.workload == workload
        }
        traces = {name: one.subject for name, one in known.items()}
        names = continued(traces, some)
        pairs += [
            (subject, None if name is None else known[name])
            for subject, name in zip(some, names, strict=True)
        ]
    return pairs


def _is_news(
    rule: Rule,
    found: Found,
    subject: Subject,
    one: Reported | None,
    begun: datetime,
) -> bool:
    if one is not None:
        # Only a part of an incident is read if it began before.
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
        found.labels.get(subject.id, {}),
        until=found.until,
    )


def _message(
    rule: Rule,
    name: str,
    subject: Subject,
    one: Reported | None,
    now: datetime,
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
    rule: Rule, found: Found, gone: Collection[Reported], now: datetime
) -> Iterator[Message]:
    """Yield a withdrawal of each incident that is not found any more."""
    for one in gone:
        last = one.subject
        if (
            last.kind is Kind.GAP
            or last.withdrawn
            or last.began_at < found.since
            or one.position >= found.position
        ):
            continue
        became = successor(
            last,
            (s for s in found.subjects if s.workload == last.workload),
        )
        why = NO_LONGER
        if became is not None:
            why = f"it is a part of incident {became.id}"
        subject = msgspec.structs.replace(last, withdrawn=why)
        yield _message(rule, one.name, subject, one, now)


def is_wanted(
    condition: Condition,
    subject: Subject,
    labels: NodeLabels,
    *,
    until: datetime,
) -> bool:
    """Return whether a rule reports a subject."""
    after = condition.gap_after
    if subject.kind is Kind.GAP:
        if after is None or (subject.over_at or until) - subject.at <= after:
            return False
        wanted = condition.resource
        return not wanted or any(
            matches(wanted, one) for one in subject.resource.split(", ")
        )
    is_of_workload = subject.kind is Kind.WORKLOAD
    if after is not None or is_of_workload != condition.is_of_workloads:
        return False
    if is_of_workload and not _is_ending(condition, subject):
        return False
    return (
        _is_one(subject.happened, condition.happened)
        and _is_one(subject.cause, condition.cause)
        and _is_one(subject.confidence, condition.confidence)
        and _has_node(condition, subject, labels)
        and _has_namespace(condition, subject)
    )


def _is_one(value: str, wanted: Sequence[str]) -> bool:
    return not wanted or value in wanted


def _is_ending(condition: Condition, subject: Subject) -> bool:
    """Return whether a rule reports what ended a workload."""
    by = condition.ended_by or ANY
    names = (subject.workload, subject.workload.rpartition("/")[2])
    return (
        subject.happened in by
        and _matches_any(condition.workload, names)
        and _matches_any(condition.owner, (subject.owner,))
    )


def _matches_any(wanted: tuple[str, ...], names: Sequence[str]) -> bool:
    return not wanted or any(name and matches(wanted, name) for name in names)


def _has_node(
    condition: Condition, subject: Subject, labels: NodeLabels
) -> bool:
    """Return whether one node has the name, the labels and the rack."""
    if not (condition.node or condition.labels or condition.rack):
        return True  # what ended a workload may have no node
    wanted = Labels(condition.rack, tuple(condition.labels.items()))
    return any(
        (not condition.node or matches(condition.node, node))
        and wanted.fit(labels.get(node, {}))
        for node in subject.nodes
    )


def _has_namespace(condition: Condition, subject: Subject) -> bool:
    wanted = condition.namespace
    return not wanted or any(
        matches(wanted, namespace) for namespace in subject.namespaces
    )
