"""A tape of somebody who was not listening for a while.

What was sent in that time is not on it; what stood at its end is listed, as
after a watch that came too late to go on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from recorder.model.observation import EXPIRED
from tests.corpus.tape_lines import Frame, Lines, is_bookmark

__all__ = ["Blind", "blinded"]


@dataclass(frozen=True, slots=True)
class Blind:
    """From when to when nobody listened, in seconds of the tape."""

    since: float
    until: float


def blinded(tape: Lines, since: str, until: str) -> Lines:
    """Let nobody listen between two times, written as frames have them."""
    stands: dict[str, dict[str, dict[str, Any]]] = {}
    before, after = [], []
    for frame in tape.frames:
        if frame["at"] > until:
            after.append(frame)
            continue
        _keep(stands, frame)
        if frame["at"] <= since or frame["frame"] == "audit":
            before.append(frame)
    closed = [_closed(since, resource) for resource in stands]
    heard = sorted([*before, *closed], key=lambda frame: str(frame["at"]))
    shown = [*_listed(stands, tape, until)]
    return Lines(tape.header, [*heard, *shown, *after])


def _keep(stands: dict[str, dict[str, dict[str, Any]]], frame: Frame) -> None:
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


def _listed(
    stands: dict[str, dict[str, dict[str, Any]]], tape: Lines, at: str
) -> Iterator[Frame]:
    kinds = {
        frame["resource"]: frame["kind"]
        for frame in tape.frames
        if frame["frame"] == "list"
    }
    latest = max(
        int(item["metadata"]["resourceVersion"])
        for items in stands.values()
        for item in items.values()
    )
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
