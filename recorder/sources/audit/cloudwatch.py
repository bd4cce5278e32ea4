"""Audit records of EKS, from exports of CloudWatch.

The record is a text, as the API server wrote it; CloudWatch truncates long
ones. Log streams of other components are left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any

STREAM = "kube-apiserver-audit"
CONTROL = "CONTROL_MESSAGE"


def records(document: Mapping[str, Any]) -> Iterator[object] | None:
    """Return the texts in a response or a message; None if it is neither.

    A response of ``filter-log-events`` or ``get-log-events``, or a message of
    a subscription. Logs of other components are None.
    """
    if document.get("messageType") == CONTROL:
        return iter([None])
    events = document.get("events") or document.get("logEvents")
    if not isinstance(events, list):
        return None
    return _messages(events, str(document.get("logStream", STREAM)))


def _messages(events: list[Any], stream: str) -> Iterator[object]:
    for event in events:
        if not isinstance(event, dict):
            yield event
        elif str(event.get("logStreamName", stream)).startswith(STREAM):
            yield event.get("message", event)
        else:
            yield None


def row(document: list[Any]) -> Mapping[str, Any] | None:
    """Return a row of a response of Insights; None if it is not one.

    ``[{"field": "@message", "value": "..."}]``.
    """
    if not document:
        return None
    found = {}
    for cell in document:
        if not isinstance(cell, dict) or cell.keys() != {"field", "value"}:
            return None
        found[str(cell["field"])] = cell["value"]
    return found
