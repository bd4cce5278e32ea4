"""Rules and subjects of tests."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import orjson

from recorder.explain.knowledge import shipped
from recorder.notification.following import Following
from recorder.notification.loading import read_rules
from recorder.notification.message import (
    Kind,
    Message,
    Reported,
    Subject,
    Work,
)
from recorder.notification.rules import Rule
from recorder.store.outbox import StoredOutbox

__all__ = [
    "AT",
    "a_gap",
    "a_message",
    "a_rule",
    "an_ending",
    "an_incident",
    "following_of",
    "messages_in",
    "sent_before",
]

AT = datetime(2026, 11, 21, 3, 18, tzinfo=UTC)


def a_rule(
    when: str = "{}",
    shape: str = "slack",
    more: str = "",
    name: str = "oncall",
) -> Rule:
    # At once, unless a test is about that.
    if "settle" not in more:
        more = f"  settle: 0s\n{more}"
    text = (
        f"rules:\n- name: {name}\n  when: {when}\n"
        f"  post: {{shape: {shape}, url: 'http://127.0.0.1:9/hook'}}\n{more}"
    )
    return read_rules(text, name="notify.yaml").rules[0]


def an_incident(name: str = "1/40", /, **changed: Any) -> Subject:
    subject = Subject(
        kind=Kind.INCIDENT,
        id=name,
        ids=[name],
        cluster="prod",
        cluster_uid="c0ffee",
        log=1,
        node="gpu-002",
        nodes=["gpu-002"],
        node_count=1,
        happened="reboot",
        cause="hung-kernel",
        confidence="likely",
        mode="abrupt",
        group="node",
        sentence="gpu-002 rebooted at 03:18:00Z: soft lockup",
        at=AT,
        began_at=AT - timedelta(minutes=1),
        over_at=None,
        work=[
            Work(
                says="JobSet train/llm",
                namespace="train",
                outcome="restarted",
            )
        ],
        work_count=1,
        gpu_hours_lost=3.2,
    )
    return msgspec.structs.replace(subject, **changed)


def an_ending(name: str = "1/40", /, **changed: Any) -> Subject:
    subject = Subject(
        kind=Kind.WORKLOAD,
        id=name,
        ids=[name],
        cluster="prod",
        cluster_uid="c0ffee",
        log=1,
        node="gpu-002",
        nodes=["gpu-002"],
        node_count=1,
        happened="node-failure",
        cause="hung-kernel",
        confidence="likely",
        mode="abrupt",
        workload="jobset/train/llm",
        owner="alice@example.com",
        sentence="JobSet train/llm lost 1 of 4 Pods on gpu-002",
        at=AT,
        began_at=AT,
        over_at=None,
        work=[
            Work(says="JobSet train/llm", namespace="train", outcome="down")
        ],
        work_count=1,
        gpu_hours_lost=3.2,
    )
    return msgspec.structs.replace(subject, **changed)


def a_gap(name: str = "1/70", /, **changed: Any) -> Subject:
    subject = Subject(
        kind=Kind.GAP,
        id=name,
        ids=[name],
        cluster="prod",
        cluster_uid="c0ffee",
        log=1,
        resource="v1/pods",
        sentence="v1/pods (watch) is not confirmed complete",
        at=AT,
        began_at=AT,
        over_at=None,
    )
    return msgspec.structs.replace(subject, **changed)


def sent_before(
    subject: Subject, number: int = 1, position: int = 50, name: str = ""
) -> Reported:
    return Reported(
        name=name or subject.id,
        number=number,
        position=position,
        first_at=AT,
        subject=subject,
    )


def a_message(
    now: Subject,
    was: Subject | None = None,
    number: int = 1,
    rule: str = "oncall",
) -> Message:
    return Message(
        rule=rule,
        name="1/40",
        number=number,
        now=now,
        was=was,
        first_at=AT + timedelta(minutes=2),
    )


def following_of(rules: Sequence[Rule], kept: StoredOutbox) -> Following:
    return Following(
        {rule.name: rule for rule in rules},
        shipped(),
        kept,
        kick=lambda: None,
        judged=lambda *_: None,
    )


async def messages_in(kept: StoredOutbox) -> list[Message]:
    rows = await kept._pool.fetch(
        "select message::text from recorder.notification"
        " order by notification_id"
    )
    return [
        msgspec.convert(orjson.loads(row["message"]), Message) for row in rows
    ]
