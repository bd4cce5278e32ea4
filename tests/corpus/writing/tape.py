"""Writes what is watched and audited by hand, frame by frame."""

import copy
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

__all__ = ["BEGAN", "NODES", "PODS", "Made", "WrittenTape"]

Made = dict[str, Any]

BEGAN = datetime(2026, 11, 20, 8, tzinfo=UTC)
KINDS = {
    "v1/events": "Event",
    "apiextensions.k8s.io/v1/customresourcedefinitions": (
        "CustomResourceDefinition"
    ),
    "coordination.k8s.io/v1/leases": "Lease",
    "v1/nodes": "Node",
    "batch/v1/cronjobs": "CronJob",
    "apps/v1/deployments": "Deployment",
    "v1/pods": "Pod",
    "batch/v1/jobs": "Job",
    "apps/v1/replicasets": "ReplicaSet",
    "apps/v1/statefulsets": "StatefulSet",
    "apps/v1/daemonsets": "DaemonSet",
    "policy/v1/poddisruptionbudgets": "PodDisruptionBudget",
    "v1/namespaces": "Namespace",
}
NODES, PODS = "v1/nodes", "v1/pods"


class WrittenTape:
    """What is watched of a cluster, and what was done when."""

    def __init__(self, name: str, more: Mapping[str, str] = {}) -> None:
        self.kinds = KINDS | dict(more)
        self.name = name
        self.now = 0.0
        self.frames: list[Made] = []
        self.acts: list[dict[str, str]] = []
        self.there: dict[str, dict[str, Made]] = {k: {} for k in self.kinds}
        self.recording = False
        self._count = 1000

    def uid(self, *words: object) -> str:
        """Return a UID that is always the same."""
        text = "/".join(map(str, (self.name, *words)))
        return str(uuid.uuid5(uuid.NAMESPACE_URL, text))

    def at(self, *, whole: bool = True) -> str:
        """Return the time now."""
        time = BEGAN + timedelta(seconds=self.now)
        form = "%Y-%m-%dT%H:%M:%SZ" if whole else "%Y-%m-%dT%H:%M:%S.%fZ"
        return time.strftime(form)

    def did(self, label: str, what: str) -> None:
        """Keep what was done."""
        self.acts.append(
            {"at": self.at(whole=False), "label": label, "what": what}
        )

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        until = self.now + seconds
        while self.now < until:
            step = min(10 - self.now % 10, until - self.now)
            self.now += step
            if self.now % 10 == 0:
                self.beat()
        self.now += 0.013

    def beat(self) -> None:
        """Do what is done every ten seconds."""

    def put(self, resource: str, made: Made, manager: str, *f: str) -> None:
        """Write an object, whose fields a manager owns from now on."""
        meta = made["metadata"]
        self._count += 1
        meta["resourceVersion"] = str(self._count)
        sub = "status" if f and f[0].startswith("status") else None
        if f:
            self._own(made, manager, sub, f)
        key = meta["uid"]
        what = "MODIFIED" if key in self.there[resource] else "ADDED"
        self.there[resource][key] = made
        self._watch(resource, what, made)

    def gone(self, resource: str, made: Made) -> None:
        """Delete an object."""
        self._count += 1
        made["metadata"]["resourceVersion"] = str(self._count)
        del self.there[resource][made["metadata"]["uid"]]
        self._watch(resource, "DELETED", made)

    def start(self) -> None:
        """List everything."""
        self.recording = True
        for resource, kind in self.kinds.items():
            items = copy.deepcopy(list(self.there[resource].values()))
            for item in items:
                item.pop("kind"), item.pop("apiVersion")
            self.frames.append(
                {
                    "at": self.at(whole=False),
                    "source": "watch",
                    "frame": "list",
                    "resource": resource,
                    "resource_version": str(self._count),
                    "more": False,
                    "kind": kind,
                    "items": items,
                }
            )
            self.now += 0.01
        self.did("start", "everything is listed")
        self.wait(5)

    def end(self) -> None:
        """End the recording."""
        self.wait(15)
        self.did("end", "the recording ends")
        self.wait(15)

    def event(
        self,
        of: Made,
        reason: str,
        message: str,
        by: str,
        *,
        host: str = "",
        kind: str = "Normal",
    ) -> None:
        """Write an Event of an object."""
        meta = of["metadata"]
        space = meta.get("namespace", "default")
        name = f"{meta['name']}.18ec{self._count:012x}"
        source = {"component": by} | ({"host": host} if host else {})
        refers = {
            "kind": of["kind"],
            "name": meta["name"],
            "uid": meta["name"] if of["kind"] == "Node" else meta["uid"],
            "apiVersion": of["apiVersion"],
        }
        if "namespace" in meta:
            refers["namespace"] = space
        made = self._object("v1", "Event", space, name) | {
            "involvedObject": refers,
            "reason": reason,
            "message": message,
            "source": source,
            "firstTimestamp": self.at(),
            "lastTimestamp": self.at(),
            "count": 1,
            "type": kind,
            "eventTime": None,
            "reportingComponent": by,
            "reportingInstance": host,
        }
        self.put("v1/events", made, by)

    def audit(
        self,
        user: str,
        verb: str,
        path: str,
        ref: Made,
        body: Made | None = None,
        agent: str = "kubectl/v1.36.3",
    ) -> None:
        """Write an audit record."""
        said: Made = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "Request" if body else "Metadata",
            "auditID": self.uid("audit", self._count, path),
            "stage": "ResponseComplete",
            "requestURI": path,
            "verb": verb,
            "user": {"username": user, "groups": ["system:authenticated"]},
            "sourceIPs": ["192.0.2.77"],
            "userAgent": f"{agent} (linux/amd64) kubernetes/$Format",
            "objectRef": {"apiVersion": "v1", **ref},
            "responseStatus": {"metadata": {}, "code": 200},
            "requestReceivedTimestamp": self.at(whole=False),
            "stageTimestamp": self.at(whole=False),
        }
        if body:
            said["requestObject"] = body
        self.frames.append(
            {
                "at": self.at(whole=False),
                "source": "audit",
                "frame": "audit",
                "event": said,
            }
        )

    def _object(
        self, version: str, kind: str, space: str | None, name: str
    ) -> Made:
        uid = self.uid(kind, space, name)
        meta = {"name": name, "uid": uid, "creationTimestamp": self.at()}
        meta |= {"namespace": space} if space else {}
        return {"kind": kind, "apiVersion": version, "metadata": meta}

    def _condition(
        self,
        of: Made,
        kind: str,
        status: str,
        reason: str = "",
        message: str = "",
    ) -> None:
        kept = [
            c for c in of["status"].get("conditions", []) if c["type"] != kind
        ]
        new = {
            "type": kind,
            "status": status,
            "lastProbeTime": None,
            "lastTransitionTime": self.at(),
        }
        new |= {"reason": reason} if reason else {}
        new |= {"message": message} if message else {}
        of["status"]["conditions"] = [*kept, new]

    def _own(
        self,
        made: Made,
        manager: str,
        sub: str | None,
        fields: tuple[str, ...],
    ) -> None:
        owned: Made = {}
        for path in fields:
            inner = owned
            for part in path.split("."):
                inner = inner.setdefault(f"f:{part}", {})
        entry = {
            "manager": manager,
            "operation": "Update",
            "apiVersion": made["apiVersion"],
            "time": self.at(),
            "fieldsType": "FieldsV1",
            "fieldsV1": owned,
        }
        entry |= {"subresource": sub} if sub else {}
        kept = [
            e
            for e in made["metadata"].get("managedFields", [])
            if e["fieldsV1"] != owned
        ]
        made["metadata"]["managedFields"] = [*kept, entry]

    def _watch(self, resource: str, what: str, made: Made) -> None:
        if not self.recording:
            return
        self.now += 0.007
        self.frames.append(
            {
                "at": self.at(whole=False),
                "source": "watch",
                "frame": "watch",
                "resource": resource,
                "event": {"type": what, "object": copy.deepcopy(made)},
            }
        )
