"""Redaction on admission: nothing else sees a document before this.

What cannot be parsed cannot be redacted either, so it becomes a refusal with
its bytes masked as far as a pattern can.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import msgspec

from recorder.intake.redact import Redaction
from recorder.intake.refusals import refusal
from recorder.model.errors import InputError
from recorder.model.observation import (
    AuditRecorded,
    CloudEventPosted,
    InputRefused,
    ListPage,
    Observation,
    Polled,
    WatchFrame,
)


def admit(
    observations: Iterable[Observation],
    redaction: Redaction,
    *,
    served: bool = False,
    checked: bool = False,
) -> list[Observation]:
    """Return the observations without secrets, in order.

    ``served``: documents come directly from an API server, so what it never
    writes need not be searched for; not true of a tape. ``checked``: the
    source has verified that objects are JSON.
    """
    redact = partial(redaction.document, served=served, checked=checked)
    admitted: list[Observation] = []
    for observation in observations:
        match observation:
            case WatchFrame():
                admitted.append(_frame(observation, redaction, redact))
            case ListPage():
                admitted.extend(_page(observation, redaction, redact))
            case AuditRecorded() | CloudEventPosted():
                admitted.append(_posted(observation, redaction))
            case Polled():
                admitted.extend(_polled(observation, redaction))
            case InputRefused():
                admitted.append(_refused(observation, redaction))
            case _:
                admitted.append(observation)
    return admitted


def _frame(
    frame: WatchFrame,
    redaction: Redaction,
    redact: Callable[..., bytes],
) -> Observation:
    try:
        clean = redact(frame.object, resource=str(frame.resource))
    except InputError as exc:
        return _refused(refusal(frame, frame.object, str(exc)), redaction)
    if clean is frame.object:
        return frame
    return msgspec.structs.replace(frame, object=clean)


def _page(
    page: ListPage,
    redaction: Redaction,
    redact: Callable[..., bytes],
) -> list[Observation]:
    resource = str(page.resource)
    refused: list[Observation] = []
    items = []
    for raw in page.items:
        try:
            items.append(redact(raw, resource=resource))
        except InputError as exc:
            described = refusal(page, raw, str(exc))
            refused.append(_refused(described, redaction))
    return [*refused, replace(page, items=items)]


def _posted(
    posted: AuditRecorded | CloudEventPosted, redaction: Redaction
) -> Observation:
    redact = redaction.posted
    if isinstance(posted, AuditRecorded):
        redact = redaction.audit
    try:
        clean = redact(posted.event)
    except InputError as exc:
        return _refused(refusal(posted, posted.event, str(exc)), redaction)
    return replace(posted, event=clean)


def _polled(polled: Polled, redaction: Redaction) -> list[Observation]:
    refused: list[Observation] = []
    items = []
    for raw in polled.items:
        try:
            items.append(redaction.any_json(raw))
        except InputError as exc:
            described = refusal(polled, raw, str(exc))
            refused.append(_refused(described, redaction))
    return [*refused, replace(polled, items=items)]


def _refused(refused: InputRefused, redaction: Redaction) -> InputRefused:
    return replace(refused, head=redaction.refused(refused.head))
