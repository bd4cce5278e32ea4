"""Requests about Pods on a node: evictions, bindings, commands.

Their audit records name the Pod but not its node, and often no UID. They
belong to the node that the Pod was on at that time.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from recorder.answers.ports import Reading
from recorder.answers.queries import ALWAYS, FactQuery, PodsOn, Purpose, Stay
from recorder.model.fact import FactKind, StoredFact
from recorder.model.facts import Requested
from recorder.model.moment import shifted
from recorder.model.observation import AUDIT
from recorder.model.window import Window

SLACK = timedelta(seconds=2)
"""Between the clocks of an API server and the recorder; creation times are
truncated to the second."""

REQUESTS_MAX = 5_000
"""Requests returned, the newest; a drain makes one for each Pod."""

ENTERED = frozenset({"eviction", "binding", "exec", "attach", "portforward"})
REFUSED = 400

Life = tuple[str | None, datetime, datetime]
"""A UID, and from when to when it existed."""


async def requests_placed(
    reading: Reading, node: str, window: Window
) -> Sequence[StoredFact]:
    """Return requests about Pods on a node, in log order.

    Only requests that do not name the node themselves.
    """
    if not any(stream.source == AUDIT for stream in reading.streams):
        return ()
    stay = Stay(node, window.since or ALWAYS[0], window.until or ALWAYS[1])
    uids = await reading.names(PodsOn([stay]))
    lived = FactQuery(purpose=Purpose.LIVES, uids=uids)
    lives = _lives(await reading.facts(lived))
    names = [("", namespace, name) for namespace, name in lives]
    if not names:
        return ()
    found = await reading.facts(
        FactQuery(purpose=Purpose.REQUESTS, objects=names)
    )
    placed = [stored for stored in found if _is_placed(stored, lives)]
    return sorted(placed, key=lambda one: one.entry)[-REQUESTS_MAX:]


def concerns_node(stored: StoredFact) -> bool:
    """Return whether a request about a Pod belongs on its node's timeline.

    Evictions, deletions, bindings, commands in it, and rejected requests.
    """
    detail = stored.fact.detail
    return isinstance(detail, Requested) and (
        detail.subresource in ENTERED
        or detail.verb == "delete"
        or (detail.code or 0) >= REFUSED
    )


def _lives(
    facts: Sequence[StoredFact],
) -> dict[tuple[str, str], list[Life]]:
    """Return the lives of Pods, by namespace and name."""
    ends = {
        stored.fact.object.uid: stored.at
        for stored in facts
        if stored.fact.kind is FactKind.VANISHED and stored.fact.object
    }
    found: dict[tuple[str, str], list[Life]] = {}
    for stored in facts:
        thing = stored.fact.object
        if thing is None or thing.kind != "Pod":
            continue
        life = (
            thing.uid,
            ALWAYS[0]
            if stored.fact.kind is FactKind.VANISHED
            else shifted(stored.at, -SLACK),
            shifted(ends.get(thing.uid, ALWAYS[1]), SLACK),
        )
        found.setdefault((thing.namespace, thing.name), []).append(life)
    return found


def _is_placed(
    stored: StoredFact, lives: dict[tuple[str, str], list[Life]]
) -> bool:
    thing = stored.fact.object
    if thing is None or stored.fact.node is not None:
        return False
    return any(
        thing.uid == uid if thing.uid else since <= stored.at <= until
        for uid, since, until in lives.get((thing.namespace, thing.name), ())
    )
