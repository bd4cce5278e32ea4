"""A version at which no object of a kind existed, since its CRD was deleted.

A kind that returns is listed, and objects that came and went before that list
would be an unbounded gap. If its definition was deleted, there is a version to
start from: etcd held no definition then, and none of its objects either,
because a definition is removed only after them. Everything since then is the
history of the returning kind, and may be watched or walked from there.
"""

from recorder.model.reference import Resource
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import RequestError
from recorder.sources.watch.listing import list_at, list_head
from recorder.sources.watch.target import Target

DEFINITIONS = Target(
    resource=Resource(
        "apiextensions.k8s.io", "v1", "customresourcedefinitions"
    ),
    kind="CustomResourceDefinition",
)


async def undefined_at(
    client: ClusterClient, target: Target, served_at: str | None
) -> str | None:
    """Return a version at which no object of a kind existed.

    None if its definition exists, if the server cannot answer, and if the kind
    had no definition when it was served, as in an aggregated API.
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
