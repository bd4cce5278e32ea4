"""What discovery finds and what a reflector follows."""

from collections.abc import Sequence
from dataclasses import dataclass

from recorder.model.reference import Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One collection that the cluster serves and that can be watched."""

    group: str
    plural: str
    kind: str
    namespaced: bool
    versions: Sequence[str]
    """Every version that can be listed and watched, preferred first."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Target:
    """One collection that is recorded, in one version."""

    resource: Resource
    kind: str
    namespaced: bool = False
    namespace: str | None = None
    """The only namespace of interest; None is the whole cluster."""

    @property
    def path(self) -> str:
        """The path of the collection."""
        return collection_path(self.resource, self.namespace)


def collection_path(resource: Resource, namespace: str | None) -> str:
    """Return the path of a collection, below one namespace if there is one."""
    start = "/apis" if resource.group else "/api"
    root = f"{start}/{resource.api_version}"
    if namespace:
        return f"{root}/namespaces/{namespace}/{resource.plural}"
    return f"{root}/{resource.plural}"
