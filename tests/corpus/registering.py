"""A controller manager that restarts in a tape where none did.

It registers every node anew, which looks like a join and is none.
"""

from collections.abc import Mapping
from random import Random
from typing import Any

from tests.corpus.answered_tape import AnsweredTape
from tests.corpus.tape_lines import (
    Frame,
    Lines,
    changed_objects,
    is_bookmark,
    objects_of,
)

__all__ = ["register_all"]

EVENTS = "v1/events"


def register_all(answered: AnsweredTape, seed: int) -> AnsweredTape:
    """Let the controller manager restart somewhere: RegisteredNode for all.

    To make room for their versions, every version gets three more digits.
    """
    chance = Random(seed)
    wide = _widened(answered.tape)
    places = [
        place
        for place, frame in enumerate(wide.frames)
        if frame.get("resource") == EVENTS and _version(frame) is not None
    ]
    place = chance.choice(places)
    before = wide.frames[place]
    version = _version(before) or 0
    added = [
        _registered(node, before["at"], version + number, chance)
        for number, node in enumerate(_nodes(wide, place), start=1)
    ]
    frames = [
        *wide.frames[: place + 1],
        *added,
        *wide.frames[place + 1 :],
    ]
    return AnsweredTape(Lines(wide.header, frames), answered.truth)


def _registered(
    node: Mapping[str, Any], at: str, version: int, chance: Random
) -> Frame:
    name, uid = node["metadata"]["name"], node["metadata"]["uid"]
    second = at[:19] + "Z"
    unique = f"{chance.getrandbits(128):032x}"
    event_uid = "-".join(
        (unique[:8], unique[8:12], unique[12:16], unique[16:20], unique[20:])
    )
    event = {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {
            "name": f"{name}.{unique[:16]}",
            "namespace": "default",
            "uid": event_uid,
            "resourceVersion": str(version),
            "creationTimestamp": second,
        },
        "involvedObject": {
            "kind": "Node",
            "name": name,
            "uid": uid,
            "apiVersion": "v1",
        },
        "reason": "RegisteredNode",
        "message": f"Node {name} event: Registered Node {name} in Controller",
        "source": {"component": "node-controller"},
        "firstTimestamp": second,
        "lastTimestamp": second,
        "count": 1,
        "type": "Normal",
        "eventTime": None,
        "reportingComponent": "node-controller",
        "reportingInstance": "",
    }
    return {
        "at": at,
        "source": "watch",
        "frame": "watch",
        "resource": EVENTS,
        "event": {"type": "ADDED", "object": event},
    }


def _version(frame: Frame) -> int | None:
    """Return the version up to which a frame completes its resource."""
    if frame["frame"] == "watch":
        return int(frame["event"]["object"]["metadata"]["resourceVersion"])
    if frame["frame"] == "list" and not frame["more"]:
        return int(frame["resource_version"])
    return None


def _nodes(tape: Lines, place: int) -> list[dict[str, Any]]:
    """Return the Nodes that are there when a frame arrives."""
    there: dict[str, dict[str, Any]] = {}
    for frame in tape.frames[: place + 1]:
        if frame.get("resource") != "v1/nodes" or is_bookmark(frame):
            continue
        if frame["frame"] == "list":
            there.clear()
        gone = (
            frame["frame"] == "watch" and frame["event"]["type"] == "DELETED"
        )
        for node in objects_of(frame):
            if gone:
                there.pop(node["metadata"]["uid"], None)
            else:
                there[node["metadata"]["uid"]] = node
    return list(there.values())


def _widened(tape: Lines) -> Lines:
    """Return a tape whose versions are a thousand times as high."""

    def wide(item: dict[str, Any]) -> dict[str, Any]:
        metadata = item["metadata"]
        version = {"resourceVersion": metadata["resourceVersion"] + "000"}
        return item | {"metadata": metadata | version}

    frames = []
    for frame in tape.frames:
        if frame["frame"] == "list":
            version = frame["resource_version"] + "000"
            frame = frame | {"resource_version": version}  # noqa: PLW2901
        frames.append(changed_objects(frame, wide))
    return Lines(tape.header, frames)
