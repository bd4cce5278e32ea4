"""A tape of a recorder that started in the middle, and read the past.

What was sent before is read afterwards, as the API server still has it: each
version with the newest time that its writers left. Then all objects are
listed. Events and leases have no past but what a list shows.
"""

from collections.abc import Iterator
from typing import Any

import orjson

from recorder.model.moment import written
from recorder.sources.watch.dating import dated
from recorder.sources.watch.span import Found
from tests.corpus.blinding import keep, listed
from tests.corpus.tape_lines import Frame, Lines, is_bookmark

__all__ = ["begun"]

UNREAD = frozenset({"v1/events", "coordination.k8s.io/v1/leases"})
"""Resources whose past is not read."""


def begun(tape: Lines, at: str) -> Lines:
    """Return a tape of a recorder that started at a time of its frames."""
    objects: dict[str, dict[str, dict[str, Any]]] = {}
    first: dict[str, dict[str, Any]] = {}
    past: dict[str, list[Found]] = {}
    after = []
    for frame in tape.frames:
        if frame["at"] > at:
            after.append(frame)
            continue
        if frame["frame"] == "watch" and not is_bookmark(frame):
            resource: str = frame["resource"]
            event = frame["event"]
            shown = event["object"]
            found = past.setdefault(resource, [])
            before = first.pop(shown["metadata"]["uid"], None)
            if before is not None:
                kind = {key: shown[key] for key in ("apiVersion", "kind")}
                found.append(_version(kind | before))
            found.append(_version(shown, gone=event["type"] == "DELETED"))
        elif frame["frame"] == "list":
            first |= {item["metadata"]["uid"]: item for item in frame["items"]}
        keep(objects, frame)
    read = [
        frame
        for resource, found in past.items()
        if resource not in UNREAD
        for frame in _read(resource, sorted(found), at)
    ]
    header = tape.header | {"started_at": at}
    return Lines(header, [*read, *listed(objects, tape, at), *after])


def _version(shown: dict[str, Any], *, gone: bool = False) -> Found:
    metadata = shown["metadata"]
    return Found(
        version=int(metadata["resourceVersion"]),
        uid=metadata["uid"],
        raw=orjson.dumps(shown),
        deleted=gone,
    )


def _read(resource: str, found: list[Found], at: str) -> Iterator[Frame]:
    for one, by in dated(found):
        yield {
            "at": at,
            "source": "watch",
            "frame": "watch",
            "resource": resource,
            "recovered": True,
            **({} if by is None else {"written_by": written(by)}),
            "event": {
                "type": "DELETED" if one.deleted else "MODIFIED",
                "object": orjson.loads(one.raw),
            },
        }
