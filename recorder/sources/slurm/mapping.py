"""Which Node of Kubernetes a node of Slurm is.

First what the node says of itself, then what a Node's label says, then the
mapping of the site, and equal names only if the site says so.
"""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from recorder.model.errors import ConfigError
from recorder.sources.slurm.shapes import Node

__all__ = [
    "SLURM_NODE_LABELS",
    "MappingError",
    "NodeMapping",
    "read_node_mapping",
]

SLURM_NODE_LABELS: Final = (
    "slinky.slurm.net/slurm-nodename",
    "nodeset.slinky.slurm.net/hostname-override",
)
"""Labels and annotations of a Node that name the node of Slurm on it."""


class MappingError(ConfigError):
    """The mapping of nodes cannot be used."""

    code = "config.slurm_nodes"


class NodeMapping:
    """Finds the Node of a node of Slurm."""

    def __init__(
        self,
        named: Mapping[str, str] | None = None,
        *,
        same_names: bool = False,
        labelled: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        """Prepare.

        Args:
            named: what the site says: the Node by the name in Slurm.
            same_names: whether the names are the same.
            labelled: returns what labels of Nodes say.
        """
        self._named = named or {}
        self._same = same_names
        self._labelled = labelled
        self._said: dict[str, str] = {}

    def learn(self, nodes: list[Node]) -> None:
        """Remember what nodes say of themselves."""
        for node in nodes:
            if node.kubernetes:
                self._said[node.name] = node.kubernetes

    def of(self, name: str) -> str | None:
        """Return the Node of a node of Slurm; None if nothing names it."""
        found = (
            self._said.get(name)
            or self._labelled().get(name)
            or self._named.get(name)
        )
        return found or (name if self._same else None)


def read_node_mapping(path: Path | None) -> Mapping[str, str]:
    """Return the mapping in a TOML file: ``"gpu-001" = "ip-10-0-1-1"``.

    Raises:
        MappingError: the file cannot be read, or is no such mapping.
    """
    if path is None:
        return {}
    try:
        with path.open("rb") as stream:
            found = tomllib.load(stream)
    except (OSError, ValueError) as exc:
        msg = f'cannot read the mapping of Slurm nodes "{path}": {exc}'
        raise MappingError(msg) from exc
    for name, node in found.items():
        if not isinstance(node, str):
            msg = (
                f'cannot use the mapping of Slurm nodes "{path}": write'
                f' "{name}" = "NAME-OF-THE-NODE"'
            )
            raise MappingError(msg)
    return found
