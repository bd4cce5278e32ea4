"""Trying a rule: a message that says it is a test, posted at once."""

from datetime import datetime
from typing import NamedTuple

from recorder.notification.loading import NotifyError
from recorder.notification.message import Message
from recorder.notification.ports import Poster, PostError
from recorder.notification.rules import Rule
from recorder.notification.sending import outcome_of
from recorder.notification.shapes import CONTENT_TYPES, body_of
from recorder.notification.subjects import Kind, Subject

__all__ = ["Tried", "try_rule"]


class Tried(NamedTuple):
    """What became of a test message."""

    rule: str
    why: str
    """Why it was not taken; empty where it was."""


async def try_rule(rule: Rule, poster: Poster, now: datetime) -> Tried:
    """Post a test message of a rule once; nothing of it is kept."""
    name = f"test-{now:%Y%m%dT%H%M%S%f}"
    subject = Subject(
        kind=Kind.INCIDENT,
        id=name,
        ids=[name],
        cluster="test",
        cluster_uid="test",
        log=0,
        node="test",
        nodes=["test"],
        node_count=1,
        happened="test",
        cause="test",
        confidence="test",
        sentence=f"This is a test of the rule {rule.name}: nothing happened.",
        at=now,
        began_at=now,
        over_at=now,
    )
    message = Message(
        rule=rule.name,
        name=name,
        number=1,
        now=subject,
        was=None,
        first_at=now,
    )
    try:
        answer = await poster.post(
            rule,
            key=message.key,
            body=body_of(message, rule),
            content_type=CONTENT_TYPES[rule.post.shape],
        )
    except (PostError, NotifyError) as exc:
        return Tried(rule.name, str(exc))
    return Tried(rule.name, outcome_of(answer, 1, 0.0).why)
