"""Slurm: its address, the token, the version, and how many Nodes are found.

The token is proved by a request for nodes: a ping answers an expired one as if
slurmctld were down.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from recorder.doctor.check import Check, within
from recorder.model.errors import RecorderError
from recorder.model.settings import Settings

NAME, MAPPING = "Slurm", "nodes of Slurm"
LIMIT: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmFacts:
    """What Slurm answered."""

    version: str
    """Of the REST API."""

    nodes: int
    mapped: int
    """Nodes of Slurm whose Node is known."""

    seconds: float


async def look_at_slurm(
    settings: Settings, ask: Callable[[], Awaitable[SlurmFacts]]
) -> list[Check]:
    """Check Slurm, if the settings name one."""
    if not settings.slurm_url:
        return []
    try:
        found = await within(LIMIT, "ask Slurm", ask())
    except RecorderError as exc:
        remedy = (
            "check slurm_url, slurm_cluster and the token: `scontrol token"
            " lifespan=SECONDS` prints one for slurm_token_file"
        )
        return [Check(name=NAME, ok=False, says=str(exc), remedy=remedy)]
    says = (
        f"{settings.slurm_url} serves {found.version} of cluster"
        f" {settings.slurm_cluster} and accepts the token;"
        f" a poll takes {found.seconds:.1f} s"
    )
    return [
        Check(name=NAME, ok=True, says=says),
        Check(
            name=MAPPING,
            ok=not found.nodes or found.mapped > 0,
            says=f"the Node of {found.mapped} of {found.nodes} is known",
            remedy="name them in the file of slurm_nodes, or set"
            " slurm_same_names if their names are those of Nodes",
        ),
    ]
