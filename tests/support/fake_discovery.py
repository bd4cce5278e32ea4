"""The discovery documents of the fake cluster, aggregated and legacy."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["Kind", "aggregated", "groups", "resources"]

Body = dict[str, Any]

VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]


@dataclass(frozen=True)
class Kind:
    """A resource that is served."""

    plural: str
    kind: str
    group: str = ""
    version: str = "v1"
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


def aggregated(kinds: Iterable[Kind], broken: set[str]) -> Body:
    found: dict[str, dict[str, list[Body]]] = {}
    for kind in kinds:
        versions = found.setdefault(kind.group, {})
        resource = {
            "resource": kind.plural,
            "responseKind": {"kind": kind.kind},
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "verbs": VERBS,
        }
        versions.setdefault(kind.version, []).append(resource)
    items = [
        {
            "metadata": {"name": group},
            "versions": [
                {"version": version, "freshness": "Stale"}
                if group in broken
                else {"version": version, "resources": resources}
                for version, resources in versions.items()
            ],
        }
        for group, versions in found.items()
    ]
    return {"kind": "APIGroupDiscoveryList", "items": items}


def groups(kinds: Iterable[Kind]) -> Body:
    found: dict[str, list[Body]] = {}
    for kind in kinds:
        version = {"version": kind.version}
        if kind.group and version not in found.setdefault(kind.group, []):
            found[kind.group].append(version)
    listed = [
        {"name": name, "versions": versions, "preferredVersion": versions[0]}
        for name, versions in found.items()
    ]
    return {"kind": "APIGroupList", "groups": listed}


def resources(kinds: Iterable[Kind]) -> Body:
    return {
        "kind": "APIResourceList",
        "resources": [
            {
                "name": kind.plural,
                "kind": kind.kind,
                "namespaced": kind.namespaced,
                "verbs": VERBS,
            }
            for kind in kinds
        ],
    }
