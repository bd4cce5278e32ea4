"""Bodies of messages, as JSON in the shape of each kind of receiver.

Bodies are bounded, because subjects are; they never contain the address or
the token of the receiver.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import quote

from recorder.answers.text.lines import plain
from recorder.model.document import json_bytes
from recorder.model.moment import shifted, written
from recorder.notification.message import (
    FOLLOWED,
    Kind,
    Message,
    Stage,
    Subject,
)
from recorder.notification.rules import Rule, Shape
from recorder.notification.wording import command, headline, link, rows

CONTENT_TYPES: Final = {
    Shape.SLACK: "application/json; charset=utf-8",
    Shape.ALERTMANAGER: "application/json",
    Shape.CLOUDEVENTS: "application/cloudevents+json; charset=utf-8",
}

HELD: Final = timedelta(minutes=5)
"""For how long an alert is active at least: Alertmanager sends none that is
resolved before the first notification of its group."""

ALERT: Final = "RecorderIncident"
ALERT_OF_GAP: Final = "RecorderGap"
ALERT_OF_WORKLOAD: Final = "RecorderWorkload"

ALERTS: Final = {
    Kind.INCIDENT: ALERT,
    Kind.GAP: ALERT_OF_GAP,
    Kind.WORKLOAD: ALERT_OF_WORKLOAD,
}

SLACK_TEXT_MAX: Final = 2900
"""Characters of a section; Slack accepts 3000."""

TYPES: Final = "recorder.{kind}.{stage}"
"""The type of a CloudEvent."""


def body_of(message: Message, rule: Rule) -> bytes:
    """Return the body of a message in the shape of its rule."""
    match rule.post.shape:
        case Shape.SLACK:
            return json_bytes(_slack(message, rule))
        case Shape.ALERTMANAGER:
            return json_bytes(_alerts(message, rule))
        case Shape.CLOUDEVENTS:
            return json_bytes(_event(message, rule))


def _escaped(text: str) -> str:
    """Escape text for Slack, so that it can mention no user or channel."""
    shown = plain(text).replace("&", "&amp;")
    return shown.replace("<", "&lt;").replace(">", "&gt;")


def _slack(message: Message, rule: Rule) -> Mapping[str, object]:
    title = _escaped(headline(message))
    lines = [f"*{title}*", _escaped(message.now.sentence)]
    lines += [f"{name}: {_escaped(text)}" for name, text in rows(message)]
    where = link(message.now, rule)
    section = "\n".join(lines)[:SLACK_TEXT_MAX]
    # Only "&" in an address of the page has a meaning to Slack.
    below = f"`{_escaped(command(message.now))}`"
    if where is not None:
        below = f"<{where.replace('&', '&amp;')}|Open in Recorder> {below}"
    return {
        "text": f"{title}. {_escaped(message.now.sentence)}"[:SLACK_TEXT_MAX],
        "blocks": [
            {
                "type": "section",
                "text": {"type": "mrkdwn", "text": section, "verbatim": True},
            },
            {
                "type": "context",
                "elements": [
                    {"type": "mrkdwn", "text": below, "verbatim": True}
                ],
            },
        ],
    }


def _alerts(message: Message, rule: Rule) -> list[Mapping[str, object]]:
    """Return one alert, whose labels never change."""
    now = message.now
    labels = {
        **rule.labels,
        "alertname": ALERTS[now.kind],
        "cluster": now.cluster,
        "log": str(now.log),
        "incident": message.name,
        "rule": rule.name,
    }
    summary = plain(headline(message))
    annotations = {
        "summary": summary,
        "description": plain(now.sentence),
        "happened": now.happened,
        "cause": now.cause,
        "command": plain(command(now)),
        **{name: plain(text) for name, text in rows(message)},
    }
    alert: dict[str, object] = {
        "labels": labels,
        "annotations": {k: v for k, v in annotations.items() if v},
        "startsAt": written(now.began_at),
        "endsAt": written(_ends_at(message)),
    }
    where = link(now, rule)
    if where is not None:
        alert["generatorURL"] = where
    return [alert]


def _ends_at(message: Message) -> datetime:
    """Return until when an alert is active.

    That of an incident that is not over ends when it is no longer followed.
    """
    now = message.now
    if message.stage is Stage.WITHDRAWN:
        return max(message.first_at, now.began_at)
    held = max(shifted(message.first_at, HELD), now.began_at)
    if now.over_at is None:
        return max(shifted(now.began_at, FOLLOWED), held)
    return max(now.over_at, held)


def _event(message: Message, rule: Rule) -> Mapping[str, object]:
    """Return a CloudEvent 1.0, in structured mode."""
    now = message.now
    cluster = quote(now.cluster_uid, safe="")
    return {
        "specversion": "1.0",
        "id": message.key,
        "source": f"/recorder/clusters/{cluster}/logs/{now.log}",
        "type": TYPES.format(kind=now.kind, stage=message.stage),
        "subject": message.name,
        "time": written(now.at),
        "datacontenttype": "application/json",
        "data": {
            "rule": rule.name,
            "stage": message.stage,
            "number": message.number,
            "headline": plain(headline(message)),
            "link": link(now, rule),
            "command": plain(command(now)),
            **_data_of(now),
            "was": None if message.was is None else _data_of(message.was),
        },
    }


def _data_of(subject: Subject) -> Mapping[str, object]:
    """Return a subject by the field names of the public API."""
    if subject.kind is Kind.GAP:
        about: Mapping[str, object] = {"resource": subject.resource}
    else:
        about = {
            "happened": subject.happened,
            "cause": subject.cause,
            "confidence": subject.confidence,
            "mode": subject.mode,
            "decided_by": subject.decided_by or None,
            "carried_out_by": subject.carried_out_by or None,
            "group": subject.group,
            "nodes": subject.nodes,
            "node_count": subject.node_count,
            "verdicts": subject.ids,
            "affected": [
                {"workload": one.says, "outcome": one.outcome}
                for one in subject.work
            ],
            "workloads": subject.work_count,
            "gpu_hours_lost": subject.gpu_hours_lost,
            "incomplete": subject.incomplete,
        }
    if subject.kind is Kind.WORKLOAD:
        ended = {
            "workload": subject.workload,
            "owner": subject.owner or None,
            "ended_by": subject.happened,
        }
        without = {"happened", "group", "workloads", "verdicts"}
        about = ended | {k: v for k, v in about.items() if k not in without}
    return {
        "id": subject.id,
        "cluster": subject.cluster,
        "log": subject.log,
        **about,
        "sentence": plain(subject.sentence),
        "from": subject.began_at,
        "to": subject.over_at,
        "withdrawn": subject.withdrawn or None,
    }
