"""A world: objects as an API server shows them, and the frames of a tape.

Every write has an author: field managers own what they wrote last,
times have whole seconds, Events are counted as the recorder of client-go
counts them. What happens in it is for `acting`.
"""

# ruff: noqa: PLR0913 - who writes names what is written

import heapq
from collections.abc import Callable, Mapping
from typing import Any, Self

import orjson

from tests.corpus.tape_lines import Frame, Lines
from tests.scenarios.telling.parts import (
    Document,
    Key,
    clock,
    counted,
    fine,
    listed,
    managed,
    uid_of,
)

__all__ = ["EVENTS", "LEASES", "NODES", "PODS", "World"]

NODES = "v1/nodes"
EVENTS = "v1/events"
PODS = "v1/pods"
LEASES = "coordination.k8s.io/v1/leases"
LISTED = (NODES, EVENTS, PODS, LEASES)

Owned = dict[tuple[str, str], set[tuple[str, ...]]]


class World:
    """Objects, and what was written to them."""

    def __init__(self) -> None:
        self._documents: dict[Key, Document] = {}
        self._owned: dict[Key, Owned] = {}
        self._wrote: dict[Key, dict[tuple[str, str], float]] = {}
        self._first: dict[Key, Document] = {}
        self._frames: list[tuple[float, Frame]] = []
        self._reported: dict[tuple[str, str], Key] = {}
        self._events = 0
        self._deeds: list[tuple[float, int, Callable[[], object]]] = []
        self._number = 0

    def later(self, at: float, deed: Callable[[], object]) -> Self:
        """Do something at its time, in whatever order deeds are added."""
        self._number += 1
        heapq.heappush(self._deeds, (at, self._number, deed))
        return self

    def document(self, resource: str, name: str, space: str = "") -> Document:
        """Return an object as it is."""
        return self._documents[resource, space, name]

    def makes(
        self,
        at: float,
        resource: str,
        kind: str,
        name: str,
        *,
        by: str,
        space: str = "",
        life: int = 1,
        **document: Any,
    ) -> Self:
        """Create an object."""
        key = resource, space, name

        def make() -> None:
            self._documents[key] = made
            self._owned[key] = {}
            self._wrote[key] = {}
            self._show(at, key, "ADDED", by, "", {("f:spec",)})

        metadata = {
            "name": name,
            "uid": uid_of(kind, space, name, str(life)),
            "creationTimestamp": clock(at),
            **({"namespace": space} if space else {}),
            **document.pop("metadata", {}),
        }
        made = {
            "kind": kind,
            "apiVersion": resource.rpartition("/")[0],
            "metadata": metadata,
            **document,
        }
        return self.later(at, make)

    def alters(
        self,
        at: float,
        resource: str,
        name: str,
        change: Callable[[Document], set[tuple[str, ...]] | None],
        *,
        by: str,
        space: str = "",
        sub: str = "",
    ) -> Self:
        """Change an object; the change says which fields it wrote."""
        key = resource, space, name

        def alter() -> None:
            paths = change(self._documents[key]) or {("f:x",)}
            self._show(at, key, "MODIFIED", by, sub, paths)

        return self.later(at, alter)

    def removes(
        self, at: float, resource: str, name: str, *, space: str = ""
    ) -> Self:
        """Delete an object."""
        key = resource, space, name

        def remove() -> None:
            self._emit(at, key, "DELETED")
            del self._documents[key]

        return self.later(at, remove)

    def says(
        self,
        at: float,
        reporter: str,
        reason: str,
        message: str = "",
        *,
        node: str | None = None,
        about: Mapping[str, str] | None = None,
        host: str = "",
        **more: Any,
    ) -> Self:
        """Let a component report an Event; the same one again is counted.

        Of a node the kubelet names no uid.
        """
        thing = dict(about or {"kind": "Node", "name": node or ""})
        if about is None and reporter != "kubelet":
            thing["uid"] = uid_of("Node", "", node or "", "1")
            thing["apiVersion"] = "v1"
        event = {
            "involvedObject": thing,
            "reason": reason,
            "message": message,
            "source": {"component": reporter, "host": host},
            "type": "Normal",
            "reportingComponent": reporter,
            "reportingInstance": host,
            **more,
        }
        return self.later(at, lambda: self._say(at, event))

    def _say(self, at: float, event: Document) -> None:
        thing, reporter = event["involvedObject"], event["source"]
        said = str((reporter, thing, event["reason"], event["message"]))
        known = self._reported.get((reporter["host"], said))
        by = reporter["component"]
        if known is not None:
            _, space, name = known
            self.alters(at, EVENTS, name, counted(at), by=by, space=space)
            return
        self._events += 1
        space = thing.get("namespace", "default")
        name = f"{thing['name']}.{self._events:016x}"
        self._reported[reporter["host"], said] = EVENTS, space, name
        times: Document = {
            "firstTimestamp": clock(at),
            "lastTimestamp": clock(at),
        }
        self.makes(
            at,
            EVENTS,
            "Event",
            name,
            by=by,
            space=space,
            **{**times, **event, "count": 1},
        )

    def forgets(self, at: float, host: str) -> Self:
        """Let a reporter restart: it counts from one again."""

        def forget() -> None:
            self._reported = {
                k: v for k, v in self._reported.items() if k[0] != host
            }

        return self.later(at, forget)

    def asked(
        self,
        at: float,
        user: str,
        verb: str,
        name: str,
        body: Any = None,
        *,
        resource: str = "nodes",
        group: str = "",
        space: str = "",
        sub: str = "",
        code: int = 200,
        acting_as: str | None = None,
        agent: str = "kubectl/v1.36.3 (linux/amd64) kubernetes/$Format",
    ) -> Self:
        """Let audit record a request."""
        about = {"resource": resource, "name": name, "apiVersion": "v1"}
        if group:
            about["apiGroup"] = group
        if space:
            about["namespace"] = space
        if sub:
            about["subresource"] = sub
        record = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "RequestResponse",
            "auditID": uid_of("audit", str(at), user, verb, name, sub),
            "stage": "ResponseComplete",
            "verb": verb,
            "user": {"username": user, "groups": ["system:authenticated"]},
            "sourceIPs": ["192.0.2.77"],
            "userAgent": agent,
            "objectRef": about,
            "responseStatus": {"metadata": {}, "code": code},
            "requestReceivedTimestamp": fine(at),
            "stageTimestamp": fine(at + 0.01),
        }
        if body is not None:
            record["requestObject"] = body
        if acting_as is not None:
            record["impersonatedUser"] = {"username": acting_as}
        frame = {"source": "audit", "frame": "audit", "event": record}
        return self.later(at, lambda: self._frames.append((at, frame)))

    def tape(self, name: str) -> Lines:
        """Let it all happen; return it as a tape that begins with lists."""
        while self._deeds:
            _, _, deed = heapq.heappop(self._deeds)
            deed()
        header = {
            "tape": "recorder/1",
            "cluster": name,
            "cluster_uid": uid_of("cluster", name),
            "kubernetes": "v1.36.3",
            "started_at": fine(0),
            "redaction_key_id": None,
        }
        resources = {key[0] for key in self._documents} | set(LISTED)
        resources |= {
            f["resource"] for _, f in self._frames if "resource" in f
        }
        lists = [
            (0.001, listed(resource, self._first))
            for resource in sorted(resources)
        ]
        frames = []
        ordered = sorted(self._frames, key=lambda pair: pair[0])
        for number, (at, frame) in enumerate([*lists, *ordered]):
            if frame["frame"] == "watch":
                shown = frame["event"]["object"]["metadata"]
                shown["resourceVersion"] = str(1000 + number)
            frames.append({"at": fine(at), **frame})
        return Lines(header, frames)

    def _show(
        self,
        at: float,
        key: Key,
        kind: str,
        by: str,
        sub: str,
        paths: set[tuple[str, ...]],
    ) -> None:
        owned = self._owned[key]
        gone = {path[1:] for path in paths if path[0] == "-"}
        kept = {path for path in paths if path[0] != "-"}
        for own in owned.values():
            own.difference_update(gone | kept)
        owned.setdefault((by, sub), set()).update(kept)
        self._wrote[key][by, sub] = at
        self._owned[key] = {who: own for who, own in owned.items() if own}
        metadata = self._documents[key]["metadata"]
        metadata["managedFields"] = [
            managed(who, self._wrote[key][who], own)
            for who, own in self._owned[key].items()
        ]
        self._emit(at, key, kind)

    def _emit(self, at: float, key: Key, kind: str) -> None:
        shown = orjson.loads(orjson.dumps(self._documents[key]))
        if at <= 0:
            self._first[key] = shown
            return
        frame = {
            "source": "watch",
            "frame": "watch",
            "resource": key[0],
            "event": {"type": kind, "object": shown},
        }
        self._frames.append((at, frame))
