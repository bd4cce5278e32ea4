"""Which rules tell of what."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from recorder.answers.node_questions import Labels
from recorder.knowledge import matches
from recorder.notification.rules import Condition
from recorder.notification.subjects import Kind, Subject

__all__ = ["Standing", "Told", "is_wanted"]

Standing = Mapping[str, Mapping[str, str]]
"""Of nodes their labels, as they were when something happened to them."""


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """The newest message of a subject by one rule."""

    name: str
    number: int
    position: int
    """Where the log ended when it was judged."""

    first_at: datetime
    subject: Subject


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
