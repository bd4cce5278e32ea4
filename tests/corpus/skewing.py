"""Change a tape as if the clock of one node were wrong.

What its kubelet says carries that clock: its Events, its lease and the
transitions of the conditions that it set. What others say of the node, and
when something was observed, stays as it was.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from tests.corpus.rewording import shifted
from tests.corpus.tape_lines import Lines, changed_objects, is_bookmark

__all__ = ["reporting_node", "with_clock_moved"]

Object = dict[str, Any]

Change = Callable[[Object, timedelta], Object]


def with_clock_moved(tape: Lines, node: str, by: timedelta) -> Lines:
    """Return a tape on which the clock of a node is ahead by a duration."""

    def moved_by(change: Change) -> Callable[[Object], Object]:
        return lambda thing: (
            change(thing, by) if reporting_node(thing) == node else thing
        )

    frames = [
        changed_objects(frame, moved_by(_CHANGES[frame["resource"]]))
        if frame.get("resource") in _CHANGES and not is_bookmark(frame)
        else frame
        for frame in tape.frames
    ]
    return Lines(tape.header, frames)


def reporting_node(thing: Object) -> str:
    """Return the node of the kubelet that an Event, Pod, Node or lease is by.

    An Event that no kubelet made has none.
    """
    if "involvedObject" in thing:
        node = thing.get("source", {}).get("host", "")
    else:
        node = thing.get("spec", {}).get("nodeName")
        node = node or thing["metadata"]["name"]
    return str(node)


def _event(event: Object, by: timedelta) -> Object:
    times = ("firstTimestamp", "lastTimestamp", "eventTime")
    return event | {
        key: shifted(event[key], by) for key in times if event.get(key)
    }


def _lease(lease: Object, by: timedelta) -> Object:
    spec = lease["spec"]
    if "renewTime" not in spec:
        return lease
    return lease | {
        "spec": spec | {"renewTime": shifted(spec["renewTime"], by)}
    }


def _conditions(thing: Object, by: timedelta) -> Object:
    status = thing.get("status", {})
    own = _set_by_kubelet(thing)
    conditions = [
        condition
        | {"lastTransitionTime": shifted(condition["lastTransitionTime"], by)}
        if condition["type"] in own and condition.get("lastTransitionTime")
        else condition
        for condition in status.get("conditions", ())
    ]
    return thing | {"status": status | {"conditions": conditions}}


def _set_by_kubelet(thing: Object) -> set[str]:
    """Return the types of the conditions whose transition a kubelet wrote."""
    return {
        key.removeprefix('k:{"type":"').removesuffix('"}')
        for entry in thing["metadata"].get("managedFields", ())
        if entry.get("manager") == "kubelet"
        for key, fields in entry.get("fieldsV1", {})
        .get("f:status", {})
        .get("f:conditions", {})
        .items()
        if "f:lastTransitionTime" in fields
    }


_CHANGES: dict[str, Change] = {
    "v1/events": _event,
    "coordination.k8s.io/v1/leases": _lease,
    "v1/nodes": _conditions,
    "v1/pods": _conditions,
}
