"""Which Node of Kubernetes a node of Slurm is.

First what the node says of itself, then what a Node's label says, then the
mapping of the site, and equal names only if the site says so.
"""

import tomllib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from time import monotonic
from typing import Final

from recorder.model.errors import ConfigError
from recorder.sources.slurm.shapes import Node

READ_EVERY: Final = 60.0
"""Seconds between two readings of labels."""


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
        labelled: Callable[[], Awaitable[Mapping[str, str]]] | None = None,
    ) -> None:
        """Prepare.

        Args:
            named: what the site says: the Node by the name in Slurm.
            same_names: whether the names are the same.
            labelled: reads what labels in Kubernetes say.
        """
        self._named = named or {}
        self._same = same_names
        self._read = labelled
        self._labelled: Mapping[str, str] = {}
        self._read_at = 0.0
        self._said: dict[str, str] = {}

    def configure(
        self,
        named: Mapping[str, str],
        *,
        same_names: bool,
        labelled: Callable[[], Awaitable[Mapping[str, str]]] | None = None,
    ) -> None:
        """Set what the site says, and what reads labels."""
        self._named, self._same = named, same_names
        self._read = labelled or self._read

    async def refresh(self) -> None:
        """Read labels, at most once a minute."""
        now = monotonic()
        if self._read is None or (
            self._read_at and now - self._read_at < READ_EVERY
        ):
            return
        self._read_at = now
        self._labelled = await self._read() or self._labelled

    def learn(self, nodes: list[Node]) -> None:
        """Remember what nodes say of themselves."""
        for node in nodes:
            if node.kubernetes:
                self._said[node.name] = node.kubernetes

    def of(self, name: str) -> str | None:
        """Return the Node of a node of Slurm; None if nothing names it."""
        found = (
            self._said.get(name)
            or self._labelled.get(name)
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
