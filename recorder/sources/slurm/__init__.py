"""Slurm: its runs and nodes as claims, polled from slurmrestd.

`shapes` reads what any version answers, `folding` is a pure function from the
state before and an answer to claims, `client` speaks HTTP, and `poller` is the
source that puts the claims into the recording.
"""

from recorder.sources.slurm.client import SlurmClient, SlurmError
from recorder.sources.slurm.mapping import NodeMapping, read_node_mapping
from recorder.sources.slurm.poller import SlurmSource

__all__ = [
    "NodeMapping",
    "SlurmClient",
    "SlurmError",
    "SlurmSource",
    "read_node_mapping",
]
