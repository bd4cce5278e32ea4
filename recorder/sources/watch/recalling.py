"""Frames that cannot be read, asked for again at their version.

A byte that was spoiled on its way leaves enough of a frame to say of which
object and version it was. What the server says of that version is taken in
its place, if it is that version; what came is still described. Of what went
nothing can be asked, and what the server stores like that stays refused.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import RequestError
from recorder.sources.watch.frames import Frame, Refused, read_object
from recorder.sources.watch.listing import list_at
from recorder.sources.watch.past import Minute
from recorder.sources.watch.target import Target

__all__ = ["Portion", "with_recalled"]

Portion = Sequence[Frame | Refused]

PATIENCE_SECONDS = 5.0
"""How long a stream waits for what is read again of one portion."""


async def with_recalled(
    client: ClusterClient, target: Target, portion: Portion, minute: Minute
) -> Portion:
    """Return a portion with what could be read again of it.

    Each comes behind the frame that was refused. One request for each, as
    long as the minute has any, and for a few seconds. Who puts the portion
    confirms first that history was not rewound meanwhile.
    """
    if all(isinstance(one, Frame) or one.sought is None for one in portion):
        return portion
    until = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    found: list[Frame | Refused] = []
    for one in portion:
        frame = None
        if isinstance(one, Refused) and one.sought and not minute.take():
            frame = await _again(client, target, one.sought, until)
        if frame is None:
            found.append(one)
        else:
            assert isinstance(one, Refused), "other frames are not read again"
            minute.pay(len(frame.object))
            found += [replace(one, recalled=frame.version), frame]
    return found


async def _again(
    client: ClusterClient, target: Target, sought: Frame, until: float
) -> Frame | None:
    """Return a frame as the server tells it; None if it does not in time."""
    if sought.namespace:
        target = replace(target, namespace=sought.namespace)
    try:
        async with asyncio.timeout_at(until):
            raw = await list_at(
                client, target, name=sought.name, version=sought.version
            )
    except (RequestError, TimeoutError):
        return None
    frame = raw and read_object("MODIFIED", raw)
    if not frame or (frame.uid, frame.version) != (sought.uid, sought.version):
        return None
    return replace(frame, recovered=True)
