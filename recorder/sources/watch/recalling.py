"""Frames that cannot be parsed, requested again at their version.

A byte that was damaged in transit leaves enough of a frame to identify the
object and its version. The server's copy of that version is taken in its
place; the damaged input is still described. A deleted object cannot be
requested, and what the server itself stores damaged stays refused.
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

Portion = Sequence[Frame | Refused]

PATIENCE_SECONDS = 5.0
"""How long a stream waits for the requests of one portion."""


async def with_recalled(
    client: ClusterClient, target: Target, portion: Portion, minute: Minute
) -> Portion:
    """Return a portion with the frames that could be read again.

    Each follows the refused one. At most one request for each, while the
    shared limit allows it, and for a few seconds. Before putting the portion,
    the caller confirms that history was not rewound meanwhile.
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
    """Return the server's copy of a frame; None if not in time."""
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
