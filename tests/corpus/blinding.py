"""A tape of a recorder that was disconnected for a while.

Frames from that time are missing; the objects that exist at its end are
listed, as after a watch that could not be resumed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from recorder.model.observation import EXPIRED
from tests.corpus.tape_lines import Frame, Lines, is_bookmark

__all__ = ["Blind", "blinded", "keep", "listed"]


@dataclass(frozen=True, slots=True)
class Blind:
    """A time without observations, in seconds of the tape."""

    since: float
    until: float
    resource: str | None = None
    """The only resource that was not observed; None for all of them."""


def blinded(
    tape: Lines, since: str, until: str, resource: str | None = None
) -> Lines:
    """Return a tape without what was watched between two times.

    Times are written as in frames. Where a resource is named, only its frames
    are removed. Audit records remain.
    """
    objects: dict[str, dict[str, dict[str, Any]]] = {}
    before, after = [], []
    for frame in tape.frames:
        if frame["at"] > until:
            after.append(frame)
            continue
        if resource is not None and frame.get("resource") != resource:
            before.append(frame)
            continue
        keep(objects, frame)
        if frame["at"] <= since or frame["frame"] == "audit":
            before.append(frame)
    closed = [_closed(since, resource) for resource in objects]
    heard = sorted([*before, *closed], key=lambda frame: str(frame["at"]))
    shown = [*listed(objects, tape, until)]
    return Lines(tape.header, [*heard, *shown, *after])


def keep(objects: dict[str, dict[str, dict[str, Any]]], frame: Frame) -> None:
    """Update the objects of each resource, by UID, from a frame."""
    if frame["frame"] == "list":
        items = {item["metadata"]["uid"]: item for item in frame["items"]}
        objects[frame["resource"]] = items
    elif frame["frame"] == "watch" and not is_bookmark(frame):
        event = frame["event"]
        shown = event["object"]
        there = objects.setdefault(frame["resource"], {})
        if event["type"] == "DELETED":
            there.pop(shown["metadata"]["uid"], None)
        else:
            there[shown["metadata"]["uid"]] = {
                key: value
                for key, value in shown.items()
                if key not in {"kind", "apiVersion"}
            }


def _closed(at: str, resource: str) -> Frame:
    return {
        "at": at,
        "source": "watch",
        "frame": "closed",
        "resource": resource,
        "reason": EXPIRED,
    }


def listed(
    objects: dict[str, dict[str, dict[str, Any]]], tape: Lines, at: str
) -> Iterator[Frame]:
    """Yield a list of the objects of each resource at a time."""
    kinds = {
        frame["resource"]: frame["kind"]
        for frame in tape.frames
        if frame["frame"] == "list"
    }
    latest = max(_versions(tape, at))
    for resource, items in objects.items():
        yield {
            "at": at,
            "source": "watch",
            "frame": "list",
            "resource": resource,
            "resource_version": str(latest),
            "more": False,
            "kind": kinds[resource],
            "items": list(items.values()),
        }


def _versions(tape: Lines, until: str) -> Iterator[int]:
    """Yield the versions up to a time."""
    for frame in tape.frames:
        if frame["frame"] == "list":
            yield int(frame["resource_version"])
        elif frame["frame"] == "watch" and frame["at"] <= until:
            thing = frame["event"]["object"]
            yield int(thing["metadata"]["resourceVersion"])
