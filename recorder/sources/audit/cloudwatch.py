"""Audit records of EKS, from what CloudWatch exports of their log.

The record stands there as text, as the API server wrote it; CloudWatch cuts
off what is too long for it. Log streams of other components are left out.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["EXPORTED", "records"]

EXPORTED = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]+Z (?=\{)")
"""What stands before each line of an export to S3."""

STREAM = "kube-apiserver-audit"


def records(document: Mapping[str, Any]) -> Iterator[str] | None:
    """Return the records of an answer or a message; None if it is neither.

    An answer of ``filter-log-events`` or ``get-log-events``, or a message of
    a subscription.
    """
    events = document.get("events", document.get("logEvents"))
    if not isinstance(events, list):
        return None
    return _messages(events, str(document.get("logStream", STREAM)))


def _messages(events: list[Any], stream: str) -> Iterator[str]:
    for event in events:
        if not isinstance(event, dict):
            continue
        message = event.get("message")
        of = str(event.get("logStreamName", stream))
        if of.startswith(STREAM) and isinstance(message, str):
            yield message
