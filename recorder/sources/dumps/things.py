"""Objects of a cluster, as dumps hold them: which resource, which version.

Kinds are mapped to resources as Kubernetes names them, and by the definitions
of custom resources where a dump has them.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

import orjson

from recorder.facts.classify.times import first_moment, moment
from recorder.model.kinds import BUILT_IN_KINDS, plural_of
from recorder.model.reference import Resource

NAME_MAX = 253
VERSION_DIGITS_MAX = 18

RETRIED_MAX = timedelta(minutes=10)
"""Longer than reporters try to send an Event: kubelets do for two minutes."""

_RESOURCES: Mapping[tuple[str, str], str] = {
    (collection.rpartition("/")[0], kind): collection.rpartition("/")[2]
    for collection, kind in BUILT_IN_KINDS.items()
}
_BY_PLURAL = {
    collection.rpartition("/")[2]: (collection.rpartition("/")[0], kind)
    for collection, kind in BUILT_IN_KINDS.items()
}
_VERSIONS = {"policy": "v1", "": "v1"}

_TIMES = re.compile(
    rb'"(?:creationTimestamp|(?:first|last)Timestamp|eventTime'
    rb"|lastObservedTime|lastHeartbeatTime|lastTransitionTime|lastUpdateTime"
    rb"|renewTime|acquireTime|startTime|startedAt|finishedAt|completionTime"
    rb'|time)":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"'
)
"""Times at which something in an object was written, and no plans."""

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?\Z")
_KIND = re.compile(r"[A-Za-z][A-Za-z0-9]*\Z")
_VERSION = re.compile(r"v[0-9]+((alpha|beta)[0-9]+)?\Z")

Chooses = Callable[[str, str, str], bool]
"""Whether objects of a group, plural and kind are recorded."""


@dataclass(frozen=True, slots=True)
class Item:
    """One version of one object."""

    resource: Resource
    kind: str
    raw: bytes
    uid: str
    """Else its namespace and name."""

    version: int
    """Zero if it has none, or none that is a number."""

    at: datetime | None
    """Of an Event: when it was written last."""

    is_event: bool


class Things:
    """Reads objects, and learns the names of custom resources."""

    def __init__(self, chooses: Chooses) -> None:
        self._chooses = chooses
        self._defined: dict[tuple[str, str], str] = {}
        self.cluster_uids: set[str] = set()
        """UIDs of the namespace kube-system."""

        self.kubernetes = ""
        """The version of a kubelet."""

    def read(
        self, document: Mapping[str, Any], raw: bytes | None, name: str
    ) -> Item | str:
        """Return an object; its kind if such are not recorded.

        Args:
            document: what was found.
            raw: as it was written, if that has everything.
            name: of the file.

        Raises:
            ValueError: it is no object, or no name of it can be one.
        """
        version, kind = document.get("apiVersion"), document.get("kind")
        if not kind or not version:
            version, kind = _guessed(document, name)
            document, raw = (
                {**document, "apiVersion": version, "kind": kind},
                None,
            )
        version, kind = str(version), str(kind)
        group, _, number = version.rpartition("/")
        plural = self._plural(group, kind)
        if not (
            _VERSION.match(number)
            and _KIND.match(kind)
            and (not group or _NAME.match(group))
            and _NAME.match(plural)
            and len(group) + len(plural) <= NAME_MAX
        ):
            msg = f"{version[:60]} {kind[:60]} is no kind of Kubernetes"
            raise ValueError(msg)
        resource = Resource(group, number, plural)
        is_event = kind == "Event" and group in {"", "events.k8s.io"}
        if not is_event and not self._chooses(group, plural, kind):
            return kind
        metadata = document["metadata"]
        self._learn(kind, document, metadata)
        rv = str(metadata.get("resourceVersion") or "")
        digits = rv.isascii() and rv.isdecimal()
        return Item(
            resource=resource,
            kind=kind,
            raw=raw if raw is not None else orjson.dumps(document),
            uid=str(
                metadata.get("uid")
                or f"{metadata.get('namespace') or ''}/{metadata.get('name')}"
            ),
            version=int(rv) if digits and len(rv) <= VERSION_DIGITS_MAX else 0,
            at=event_moment(document) if is_event else None,
            is_event=is_event,
        )

    def _plural(self, group: str, kind: str) -> str:
        found = self._defined.get((group, kind)) or _RESOURCES.get(
            (group, kind)
        )
        return found or plural_of(kind)

    def _learn(
        self,
        kind: str,
        document: Mapping[str, Any],
        metadata: Mapping[str, Any],
    ) -> None:
        if kind == "Namespace" and metadata.get("name") == "kube-system":
            uid = metadata.get("uid")
            if isinstance(uid, str) and uid:
                self.cluster_uids.add(uid[:NAME_MAX])
        elif kind == "Node":
            status = _at(document, "status", "nodeInfo")
            version = status.get("kubeletVersion")
            if isinstance(version, str):
                self.kubernetes = version[:NAME_MAX]
        elif kind == "CustomResourceDefinition":
            group = _at(document, "spec").get("group")
            names = _at(document, "spec", "names")
            self._defined[str(group), str(names.get("kind"))] = str(
                names.get("plural")
            )


def _at(document: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    found: Any = document
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _guessed(document: Mapping[str, Any], name: str) -> tuple[str, str]:
    """Return version and kind of an item of a list that does not state them.

    By its members, else by the name of its file or folder, as tools that dump
    lists name them.

    Raises:
        ValueError: nothing shows it.
    """
    if isinstance(document.get("involvedObject"), dict):
        return "v1", "Event"
    if _at(document, "status", "nodeInfo"):
        return "v1", "Node"
    if isinstance(_at(document, "spec").get("containers"), list):
        return "v1", "Pod"
    path = PurePosixPath(name.replace(":", "/"))
    for word in (path.name.partition(".")[0], path.parent.name):
        if word in _BY_PLURAL:
            group, kind = _BY_PLURAL[word]
            return f"{group}/v1" if group else "v1", kind
    msg = "an object without a kind"
    raise ValueError(msg)


def event_moment(event: Mapping[str, Any]) -> datetime | None:
    """Return when an Event was written last, by its own times.

    If the API server created it long after that, the clock of its reporter
    was behind.
    """
    created = _at(event, "metadata").get("creationTimestamp")
    claimed = first_moment(
        _at(event, "series").get("lastObservedTime"),
        event.get("lastTimestamp"),
        event.get("deprecatedLastTimestamp"),
        event.get("eventTime"),
        event.get("firstTimestamp"),
        event.get("deprecatedFirstTimestamp"),
        created,
    )
    stored = moment(created)
    is_late = claimed and stored and stored - claimed > RETRIED_MAX
    return stored if is_late else claimed


def newest_moment(raw: bytes, *, until: datetime) -> datetime | None:
    """Return the newest time at which something in a document was written.

    Args:
        raw: JSON without spaces between its tokens.
        until: later times are plans, or of a clock that is wrong.
    """
    texts: Iterable[bytes] = _TIMES.findall(raw)
    found = (moment(text.decode()) for text in set(texts))
    return max(
        (at for at in found if at is not None and at <= until), default=None
    )
