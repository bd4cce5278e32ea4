"""Which resources the cluster serves, and which of them can be watched.

Aggregated discovery takes two requests; a server without it is queried group
by group. An extension API whose server is down must not hide the rest: its
group is returned as broken, and nothing that is watched there may be taken for
removed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from recorder.sources.watch.client import JSON, ClusterClient
from recorder.sources.watch.errors import MissingError, ServerError
from recorder.sources.watch.frames import UNREADABLE
from recorder.sources.watch.target import Served

_ACCEPT = ",".join(
    (
        *(
            f"{JSON};g=apidiscovery.k8s.io;v={v};as=APIGroupDiscoveryList"
            for v in ("v2", "v2beta1")
        ),
        JSON,
    )
)
_NEEDED = frozenset({"list", "watch"})
_STALE = "Stale"
"""The freshness of a group whose server the API server cannot reach."""


@dataclass(frozen=True, slots=True)
class Discovered:
    """What can be watched, and the groups that could not be discovered."""

    served: tuple[Served, ...]
    broken: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Found:
    """One resource in one version."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool


class _Kind(msgspec.Struct):
    kind: str = ""


class _Resource(msgspec.Struct):
    resource: str = ""
    responseKind: _Kind | None = None  # noqa: N815 - the API's own names
    scope: str = ""
    verbs: list[str] = []


class _Version(msgspec.Struct):
    version: str = ""
    resources: list[_Resource] = []
    freshness: str = ""


class _Name(msgspec.Struct):
    name: str = ""


class _Group(msgspec.Struct):
    metadata: _Name = msgspec.field(default_factory=_Name)
    versions: list[_Version] = []


class _LegacyGroup(msgspec.Struct):
    name: str
    versions: list[_Version] = []
    preferredVersion: _Version | None = None  # noqa: N815


class _Document(msgspec.Struct):
    """Any of the three responses of ``/api`` and ``/apis``."""

    kind: str = ""
    items: list[_Group] = []
    versions: list[str] = []
    groups: list[_LegacyGroup] = []


class _LegacyResource(msgspec.Struct):
    name: str
    kind: str = ""
    namespaced: bool = False
    verbs: list[str] = []


class _LegacyResources(msgspec.Struct):
    resources: list[_LegacyResource] = []


async def discover(client: ClusterClient) -> Discovered:
    """Discover what the cluster serves.

    Raises:
        RequestError: the cluster itself does not respond.
    """
    found: list[_Found] = []
    broken: set[str] = set()
    for root in ("/api", "/apis"):
        body = await client.read(
            root, verb="discover", what=root, accept=_ACCEPT
        )
        try:
            document = msgspec.json.decode(body, type=_Document)
        except UNREADABLE as exc:
            raise client.bad_answer(root, exc, verb="discover") from exc
        if document.kind == "APIGroupDiscoveryList":
            broken.update(_stale(document.items))
            found += _aggregated(document.items)
        else:
            for group, version in _legacy_versions(document):
                part = await _legacy(client, group, version)
                found += part or ()
                if part is None:
                    broken.add(group)
    return Discovered(tuple(_merge(found)), frozenset(broken))


def _stale(groups: Iterable[_Group]) -> Iterator[str]:
    for group in groups:
        if any(version.freshness == _STALE for version in group.versions):
            yield group.metadata.name


def _aggregated(groups: Iterable[_Group]) -> Iterator[_Found]:
    for group in groups:
        for version in group.versions:
            for item in version.resources:
                if item.responseKind and _NEEDED.issubset(item.verbs):
                    yield _Found(
                        group.metadata.name,
                        version.version,
                        item.resource,
                        item.responseKind.kind,
                        item.scope == "Namespaced",
                    )


def _legacy_versions(document: _Document) -> Iterator[tuple[str, str]]:
    for core in document.versions:
        yield "", core
    for group in document.groups:
        preferred = group.preferredVersion or _Version()
        ordered = sorted(
            (version.version for version in group.versions),
            # Stable: the others keep the order of the server.
            key=lambda version: version != preferred.version,
        )
        for version in ordered:
            yield group.name, version


async def _legacy(
    client: ClusterClient, group: str, version: str
) -> list[_Found] | None:
    path = f"/apis/{group}/{version}" if group else f"/api/{version}"
    try:
        body = await client.read(path, verb="discover", what=path)
        document = msgspec.json.decode(body, type=_LegacyResources)
    except (MissingError, ServerError, *UNREADABLE):
        return None
    return [
        _Found(group, version, item.name, item.kind, item.namespaced)
        for item in document.resources
        # Subresources are listed beside their resource.
        if "/" not in item.name and _NEEDED.issubset(item.verbs)
    ]


def _merge(found: Iterable[_Found]) -> Iterator[Served]:
    """Join the versions of each resource, keeping their order."""
    versions: dict[tuple[str, str], list[_Found]] = {}
    for item in found:
        versions.setdefault((item.group, item.plural), []).append(item)
    for (group, plural), items in versions.items():
        yield Served(
            group=group,
            plural=plural,
            kind=items[0].kind,
            namespaced=items[0].namespaced,
            versions=tuple(item.version for item in items),
        )
