"""A version at which nothing of a kind existed, since it had no definition.

A kind that returns is listed, and what came and went before that list would
be a gap from nowhere. Where its definition was deleted there is a moment to
begin at: etcd held no definition, so none of its objects either, because a
definition goes only after them. Everything since then is the past of the kind
that returns, and may be watched or walked from there.
"""

from recorder.model.reference import Resource
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import RequestError
from recorder.sources.watch.listing import list_at, list_head
from recorder.sources.watch.target import Target

__all__ = ["undefined_at"]

DEFINITIONS = Target(
    resource=Resource(
        "apiextensions.k8s.io", "v1", "customresourcedefinitions"
    ),
    kind="CustomResourceDefinition",
)


async def undefined_at(
    client: ClusterClient, target: Target, served_at: str | None
) -> str | None:
    """Return a version at which nothing of a kind existed.

    None if its definition is there, or the server does not tell; and if it
    had none when it was served, as what an aggregated API serves has none.

    Args:
        client: asks the cluster.
        target: what is no longer served.
        served_at: a version at which it was.
    """
    if not served_at:
        return None
    resource = target.resource
    name = f"{resource.plural}.{resource.group}"
    try:
        version = await list_head(client, DEFINITIONS)
        if await list_at(client, DEFINITIONS, name=name, version=version):
            return None
        if await list_at(client, DEFINITIONS, name=name, version=served_at):
            return version
    except RequestError:
        pass
    return None
