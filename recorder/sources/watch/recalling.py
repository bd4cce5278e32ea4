"""Frames that cannot be read, asked for again at their version.

A byte that was spoiled on its way leaves enough of a frame to say of which
object and version it was. What the server says of that version is taken in
its place, if it is that version; what came is still described. Of what went
nothing can be asked, and what the server stores like that stays refused.
"""

from collections.abc import Sequence
from dataclasses import replace

from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import RequestError
from recorder.sources.watch.frames import (
    Frame,
    Refused,
    read_object,
)
from recorder.sources.watch.listing import list_at
from recorder.sources.watch.past import Minute
from recorder.sources.watch.target import Target

__all__ = ["with_recalled"]

Portion = Sequence[Frame | Refused]


async def with_recalled(
    client: ClusterClient, target: Target, portion: Portion, minute: Minute
) -> Portion:
    """Return a portion with what could be read again of it.

    One request for each frame that was refused, as long as the minute has
    any: a stream does not wait for them.
    """
    if all(isinstance(one, Frame) or one.sought is None for one in portion):
        return portion
    found: list[Frame | Refused] = []
    for one in portion:
        frame = None
        if isinstance(one, Refused):
            if one.sought is not None and not minute.take():
                frame = await _again(client, target, one.sought)
            if frame is not None:
                minute.pay(len(frame.object))
                found += [replace(one, recalled=frame.version), frame]
                continue
        found.append(one)
    return found


async def _again(
    client: ClusterClient, target: Target, sought: Frame
) -> Frame | None:
    if sought.namespace:
        target = replace(target, namespace=sought.namespace)
    try:
        raw = await list_at(
            client, target, name=sought.name, version=sought.version
        )
    except RequestError:
        return None
    frame = raw and read_object("MODIFIED", raw)
    if not frame or (frame.uid, frame.version) != (sought.uid, sought.version):
        return None
    return replace(frame, recovered=True)
