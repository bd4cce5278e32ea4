"""The source that polls Slurm, and its check, put together from settings."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from recorder.doctor.slurm import SlurmFacts
from recorder.keeping.secret_files import read_secret
from recorder.model.errors import ClusterError, ConfigError
from recorder.model.settings import Settings
from recorder.sources.slurm import (
    NodeMapping,
    SlurmClient,
    SlurmSource,
    read_node_mapping,
)
from recorder.sources.watch.client import ClusterClient

SLURM_NODES: Final = "slinky.slurm.net/slurm-nodename"
"""A label of Nodes, by slurm-bridge: their name in Slurm."""

SLURMD_PODS: Final = "nodeset.slinky.slurm.net/pod-hostname"
"""A label of Pods with slurmd, by Slinky: the name of the node in Slurm."""

BODY_MAX: Final = 64 << 20


class _Metadata(msgspec.Struct):
    name: str = ""
    labels: dict[str, str] = {}


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class _Object(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)


class _List(msgspec.Struct):
    items: list[_Object] = []


class _Labels:
    """Asks the cluster which Nodes and Pods name a node of Slurm."""

    def __init__(self, client: ClusterClient) -> None:
        self._client = client

    async def read(self) -> Mapping[str, str]:
        """Return the Node by the name in Slurm; nothing without an answer."""
        try:
            pods = await self._list("/api/v1/pods", SLURMD_PODS)
            nodes = await self._list("/api/v1/nodes", SLURM_NODES)
        except (ClusterError, ValueError):
            return {}
        of_pods = {
            pod.metadata.labels[SLURMD_PODS]: pod.spec.node_name
            for pod in pods
            if pod.spec.node_name
        }
        return of_pods | {
            node.metadata.labels[SLURM_NODES]: node.metadata.name
            for node in nodes
        }

    async def _list(self, path: str, label: str) -> list[_Object]:
        body = await self._client.read(
            path,
            verb="list",
            what=path,
            params={"labelSelector": label},
            limit=BODY_MAX,
        )
        return msgspec.json.decode(body, type=_List).items


def _client(settings: Settings) -> SlurmClient:
    """Return a client of the slurmrestd that the settings name.

    Raises:
        ConfigError: a setting is missing.
    """
    token = settings.slurm_token_file
    if not settings.slurm_cluster or token is None:
        msg = "slurm_url needs slurm_cluster and slurm_token_file"
        raise ConfigError(msg)
    return SlurmClient(
        settings.slurm_url,
        settings.slurm_user,
        lambda: read_secret(token, "token of Slurm", named=True),
    )


def slurm_source(
    settings: Settings, client: ClusterClient, mapping: NodeMapping
) -> SlurmSource | None:
    """Return the source that polls Slurm; None where none is named.

    The mapping of nodes is made as the settings say.

    Raises:
        ConfigError: a setting is missing, or its file cannot be used.
    """
    if not settings.slurm_url:
        return None
    mapping.configure(
        read_node_mapping(settings.slurm_nodes),
        same_names=settings.slurm_same_names,
        labelled=_Labels(client).read,
    )
    return SlurmSource(
        _client(settings),
        mapping,
        cluster=settings.slurm_cluster,
        interval=settings.slurm_interval.total_seconds(),
        log=settings.slurm_log,
    )


@asynccontextmanager
async def _asked(settings: Settings) -> AsyncIterator[SlurmSource]:
    client = _client(settings)
    async with client:
        yield SlurmSource(
            client,
            NodeMapping(
                read_node_mapping(settings.slurm_nodes),
                same_names=settings.slurm_same_names,
            ),
            cluster=settings.slurm_cluster,
            interval=settings.slurm_interval.total_seconds(),
        )


async def look_at_slurm(settings: Settings) -> SlurmFacts:
    """Ask Slurm once, as the recorder would.

    Raises:
        RecorderError: it does not answer as it must.
    """
    async with _asked(settings) as source:
        version, nodes, mapped, seconds = await source.proof()
    return SlurmFacts(
        version=version, nodes=nodes, mapped=mapped, seconds=seconds
    )
