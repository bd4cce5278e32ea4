"""Which rights are missing in the cluster, found by trying them.

Asking the API server what one may do takes a request that creates something,
if only for a moment; trying to list and to watch does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.discovery import discover
from recorder.sources.watch.errors import RequestError
from recorder.sources.watch.evidence import in_parallel
from recorder.sources.watch.listing import list_head
from recorder.sources.watch.selection import Selection
from recorder.sources.watch.target import Target

__all__ = ["Rights", "try_rights"]

AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Rights:
    """What was tried and what was refused."""

    tried: int
    refused: Sequence[str]
    """One line each, naming the cluster, the verb and the resource."""


async def try_rights(client: ClusterClient, selection: Selection) -> Rights:
    """List and watch every resource that would be recorded, for a moment.

    Takes about a second for every eight resources.

    Raises:
        RequestError: the cluster does not answer.
    """
    found = await discover(client)
    targets = selection.choose(found.served)
    jobs = [_Try(client, target) for target in targets.values()]
    said = await in_parallel(jobs, AT_ONCE)
    return Rights(len(jobs), [line for line in said if line is not None])


@dataclass(frozen=True, slots=True)
class _Try:
    client: ClusterClient
    target: Target

    async def __call__(self) -> str | None:
        try:
            version = await list_head(self.client, self.target)
            await self.client.read(
                self.target.path,
                verb="watch",
                what=str(self.target.resource),
                params={
                    "watch": "1",
                    "timeoutSeconds": "1",
                    "resourceVersion": version,
                },
            )
        except RequestError as exc:
            return str(exc)
        return None
