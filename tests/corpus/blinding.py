"""A tape of somebody who was not listening for a while.

What was sent in that time is not on it; what stood at its end is listed, as
after a watch that came too late to go on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from recorder.model.observation import EXPIRED
from tests.corpus.tape_lines import Frame, Lines, is_bookmark

__all__ = ["Blind", "blinded", "keep", "listed"]


@dataclass(frozen=True, slots=True)
class Blind:
    """From when to when nobody listened, in seconds of the tape."""

    since: float
    until: float
    resource: str | None = None
    """The only one to which nobody listened; None for all of them."""


def blinded(
    tape: Lines, since: str, until: str, resource: str | None = None
) -> Lines:
    """Let nobody listen between two times, written as frames have them.

    To one resource alone, if it is named.
    """
    stands: dict[str, dict[str, dict[str, Any]]] = {}
    before, after = [], []
    for frame in tape.frames:
        if frame["at"] > until:
            after.append(frame)
            continue
        if resource is not None and frame.get("resource") != resource:
            before.append(frame)
            continue
        keep(stands, frame)
        if frame["at"] <= since or frame["frame"] == "audit":
            before.append(frame)
    closed = [_closed(since, resource) for resource in stands]
    heard = sorted([*before, *closed], key=lambda frame: str(frame["at"]))
    shown = [*listed(stands, tape, until)]
    return Lines(tape.header, [*heard, *shown, *after])


def keep(stands: dict[str, dict[str, dict[str, Any]]], frame: Frame) -> None:
    """Keep what stands of each resource after a frame, by its UID."""
    if frame["frame"] == "list":
        items = {item["metadata"]["uid"]: item for item in frame["items"]}
        stands[frame["resource"]] = items
    elif frame["frame"] == "watch" and not is_bookmark(frame):
        event = frame["event"]
        shown = event["object"]
        there = stands.setdefault(frame["resource"], {})
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
    stands: dict[str, dict[str, dict[str, Any]]], tape: Lines, at: str
) -> Iterator[Frame]:
    """Yield a list of each resource as it stands at a time."""
    kinds = {
        frame["resource"]: frame["kind"]
        for frame in tape.frames
        if frame["frame"] == "list"
    }
    latest = max(_versions(tape, at))
    for resource, items in stands.items():
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
    """Yield the versions that there had been by a time."""
    for frame in tape.frames:
        if frame["frame"] == "list":
            yield int(frame["resource_version"])
        elif frame["frame"] == "watch" and frame["at"] <= until:
            thing = frame["event"]["object"]
            yield int(thing["metadata"]["resourceVersion"])
