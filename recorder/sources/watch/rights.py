"""Which permissions are missing in the cluster, found by using them.

Asking the API server for one's permissions takes a request that creates an
object, if only for a moment; trying to list, watch and get does not.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from recorder.doctor.cluster import MissingRight, Rights
from recorder.sources.watch.catalog import BUILT_IN, EVERY, NAMESPACE_ONLY
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.discovery import discover
from recorder.sources.watch.errors import (
    ExpiredError,
    ForbiddenError,
    MissingError,
    RequestError,
    TooLargeError,
)
from recorder.sources.watch.evidence import NO_ANSWER, in_parallel
from recorder.sources.watch.listing import list_head
from recorder.sources.watch.selection import Selection
from recorder.sources.watch.target import Target, collection_path

AT_ONCE = 8

MISSING_NAME = "recorder-doctor"
"""The name of an object that does not exist: 404 shows that the permission to
get it is there, 403 that it is missing."""

ANYWHERE = "kube-system"
"""A namespace that every cluster has."""


async def try_rights(client: ClusterClient, selection: Selection) -> Rights:
    """Try each verb on every resource that would be recorded.

    Takes about a second for every eight resources.

    Raises:
        RequestError: the cluster does not answer.
    """
    found = await discover(client)
    targets = list(selection.choose(found.served).values())
    said = await in_parallel([_Try(client, t) for t in targets], AT_ONCE)
    refused = [
        (target, verb)
        for target, outcome in zip(targets, said, strict=True)
        for verb in outcome.refused
    ]
    return Rights(
        tried=len(targets),
        missing=list(_by_rule(refused)),
        failed=[line for outcome in said for line in outcome.failed],
    )


@dataclass(frozen=True, slots=True)
class _Outcome:
    refused: Sequence[str]
    failed: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Try:
    client: ClusterClient
    target: Target

    async def __call__(self) -> _Outcome:
        refused, failed = [], []
        version = None
        for verb in ("list", "watch", "get"):
            try:
                match verb:
                    case "list":
                        version = await list_head(self.client, self.target)
                    case "watch":
                        await self._watch(version)
                    case _:
                        await self._get()
            except (ExpiredError, MissingError, TooLargeError):
                pass  # The permission is there, which is the question.
            except ForbiddenError:
                refused.append(verb)
            except RequestError as exc:
                failed.append(str(exc))
                if isinstance(exc, NO_ANSWER):
                    break
        return _Outcome(refused, failed)

    async def _watch(self, version: str | None) -> None:
        params = {
            "watch": "1",
            "timeoutSeconds": "1",
            "resourceVersion": version or "0",
        }
        if version is None:
            # From no version, a watch begins with every existing object.
            params["fieldSelector"] = f"metadata.name={MISSING_NAME}"
        await self.client.read(
            self.target.path,
            verb="watch",
            what=str(self.target.resource),
            params=params,
        )

    async def _get(self) -> None:
        target = self.target
        namespace = target.namespace
        if target.namespaced and namespace is None:
            namespace = ANYWHERE
        path = f"{collection_path(target.resource, namespace)}/{MISSING_NAME}"
        await self.client.read(path, verb="get", what=str(target.resource))


def _by_rule(
    refused: Iterable[tuple[Target, str]],
) -> Iterator[MissingRight]:
    """Group the rejected requests by the RBAC rule that grants them."""
    rules: dict[
        tuple[str, tuple[str, ...], str | None, bool], list[tuple[str, str]]
    ] = {}
    for target, verb in refused:
        rule = _rule(target)
        rules.setdefault(rule, []).append((verb, str(target.resource)))
    for (group, resources, namespace, shipped), what in rules.items():
        yield MissingRight(
            group=group,
            resources=resources,
            namespace=namespace,
            shipped=shipped,
            refused=what,
        )


def _rule(target: Target) -> tuple[str, tuple[str, ...], str | None, bool]:
    """Return group, resources, namespace of a rule, and whether we ship it."""
    group, plural = target.resource.group, target.resource.plural
    listed = BUILT_IN.get(group, ())
    if plural not in listed and EVERY not in listed:
        return group, (plural,), None, False
    if target.namespace is not None:
        return group, (plural,), target.namespace, True
    granted = tuple(p for p in listed if (group, p) not in NAMESPACE_ONLY)
    return group, granted, None, True
