"""Changes: the differences between two versions of a document, by field.

Lists of objects that Kubernetes merges by a key are compared by that key, so
that a condition that turns is one change and not a different list. Tolerations
and lists of plain values are compared as a whole, all other lists of objects
by their places if they are of one length.

Pure and exact: all changes together, applied to the old document, give the new
one. Noise is identified by `is_noise`, not left out here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from recorder.facts.classify.paths import Element, Path, Step, written_path

Manifest = dict[str, Any]
"""An object of Kubernetes as it was decoded; its content depends on its kind.
"""

DEPTH_MAX = 100
"""Levels that are compared; below, values are compared as a whole. Objects of
a cluster have about thirty."""


class How(StrEnum):
    """What happened to a value. The words are part of the JSON output."""

    ADDED = "added"
    REMOVED = "removed"
    REPLACED = "replaced"

    REORDERED = "reordered"
    """A list has its elements in another order, after all other changes of it;
    ``old`` and ``new`` name the elements."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference."""

    path: Path
    how: How
    old: Any = None
    """None if there was nothing; ``how`` distinguishes it from a null."""

    new: Any = None

    def __str__(self) -> str:
        """Write the path."""
        return written_path(self.path)


_NAME = (("name",),)
_KEYS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "conditions": (("type",),),
    "containers": _NAME,
    "initContainers": _NAME,
    "ephemeralContainers": _NAME,
    "containerStatuses": _NAME,
    "initContainerStatuses": _NAME,
    "ephemeralContainerStatuses": _NAME,
    "env": _NAME,
    "volumes": _NAME,
    "volumesAttached": _NAME,
    "volumeMounts": (("mountPath",),),
    "volumeDevices": (("devicePath",),),
    "imagePullSecrets": _NAME,
    "resourceClaims": _NAME,
    "replicatedJobs": _NAME,
    "replicatedJobsStatus": _NAME,
    "taints": (("key", "effect"),),
    "ownerReferences": (("uid",),),
    "addresses": (("type", "address"),),
    "podIPs": (("ip",),),
    "hostIPs": (("ip",),),
    "ports": (
        ("containerPort", "protocol"),
        ("containerPort",),
        ("port", "protocol"),
        ("port",),
    ),
}
"""What names an element among its neighbors, by the name of the list; the
first that fits every element of both versions."""

_WHOLE = frozenset({"tolerations", "images"})
"""Lists of objects without a key, in which places mean nothing."""

_ORDERED = frozenset({"initContainers", "env"})
"""Keyed lists whose order has a meaning: what runs or is expanded first."""


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Return what differs, sorted by field name at each level."""
    found: list[Change] = []
    _of_objects(found, (), old, new)
    return found


def is_noise(change: Change) -> bool:
    """Return whether a change is of no interest to a person.

    The book-keeping of versions, generations and field managers, the times of
    heartbeats, and the order of lists in which it means nothing.
    """
    path = change.path
    if path[:1] == ("metadata",) and path[1:2] in _BOOKS:
        return True
    if change.how is How.REORDERED:
        return path[-1] not in _ORDERED
    if path[-1] == "lastHeartbeatTime":
        return path[:2] == ("status", "conditions")
    return path[-1] == "observedGeneration"


def value_at(document: Manifest, path: Path) -> object:
    """Return the value at a path of a document; None if there is none."""
    value: Any = document
    for step in path:
        value = _member(step, value)
    return value


def _member(step: Step, value: Any) -> Any:
    if isinstance(step, str):
        return value.get(step) if isinstance(value, dict) else None
    if not isinstance(value, list):
        return None
    if isinstance(step, int):
        return value[step] if step < len(value) else None
    objects = (one for one in value if isinstance(one, dict))
    return next((one for one in objects if _is_named(one, step)), None)


def _is_named(element: Mapping[str, Any], name: Element) -> bool:
    return all(element.get(field) == at for field, at in name.names)


_BOOKS = (("managedFields",), ("resourceVersion",), ("generation",))


def _of_objects(
    found: list[Change],
    path: Path,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
) -> None:
    for name in sorted(old.keys() | new.keys()):
        place = (*path, name)
        if name not in old:
            found.append(Change(place, How.ADDED, None, new[name]))
        elif name not in new:
            found.append(Change(place, How.REMOVED, old[name], None))
        else:
            _of_values(found, place, old[name], new[name])


def _of_values(found: list[Change], path: Path, old: Any, new: Any) -> None:
    if len(path) < DEPTH_MAX:
        if isinstance(old, dict) and isinstance(new, dict):
            _of_objects(found, path, old, new)
            return
        if _are_objects(old) and _are_objects(new) and path[-1] not in _WHOLE:
            key = _key(path, [*old, *new])
            if key and _unique(key, old) and _unique(key, new):
                _of_keyed(found, path, _named(key, old), _named(key, new))
                return
            if len(old) == len(new):
                for place, (was, is_) in enumerate(zip(old, new, strict=True)):
                    _of_objects(found, (*path, place), was, is_)
                return
    if not _same(old, new):
        found.append(Change(path, How.REPLACED, old, new))


def _of_keyed(
    found: list[Change],
    path: Path,
    old: Mapping[Element, Any],
    new: Mapping[Element, Any],
) -> None:
    for name, was in old.items():
        if name not in new:
            found.append(Change((*path, name), How.REMOVED, was, None))
        else:
            _of_objects(found, (*path, name), was, new[name])
    added = [name for name in new if name not in old]
    found.extend(
        Change((*path, name), How.ADDED, None, new[name]) for name in added
    )
    if [*(name for name in old if name in new), *added] != list(new):
        found.append(
            Change(
                path,
                How.REORDERED,
                [str(name) for name in old],
                [str(name) for name in new],
            )
        )


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(element, dict) for element in value
    )


def _key(path: Path, elements: Sequence[Any]) -> tuple[str, ...] | None:
    """Return the fields that every element has to name it."""
    for key in _KEYS.get(str(path[-1]), ()):
        if all(
            type(element.get(name)) in (str, int)
            for element in elements
            for name in key
        ):
            return key
    return None


def _named(key: tuple[str, ...], elements: Any) -> dict[Element, Any]:
    return {
        Element(tuple((name, element[name]) for name in key)): element
        for element in elements
    }


def _unique(key: tuple[str, ...], elements: Any) -> bool:
    return len(_named(key, elements)) == len(elements)


def _same(old: Any, new: Any) -> bool:
    """Compare as JSON does: true is not 1, and 1 is not 1.0.

    Without recursion, since documents may be as deep as their bytes allow.
    """
    pairs = [(old, new)]
    while pairs:
        old, new = pairs.pop()
        if type(old) is not type(new):
            return False
        if isinstance(old, dict):
            if old.keys() != new.keys():
                return False
            pairs.extend((value, new[name]) for name, value in old.items())
        elif isinstance(old, list):
            if len(old) != len(new):
                return False
            pairs.extend(zip(old, new, strict=True))
        elif old != new:
            return False
    return True
