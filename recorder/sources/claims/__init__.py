"""Claims: CloudEvents that other systems post about the cluster.

`envelope` reads them out of a request, `converters` and `mappings` make them
of what other senders write, and `door` answers requests, and puts what a token
may claim into the recording.
"""

from recorder.sources.claims.converters import slurm_converter
from recorder.sources.claims.door import CLAIMS_PATH, ClaimDoor, Rights
from recorder.sources.claims.mappings import read_mappings

__all__ = [
    "CLAIMS_PATH",
    "ClaimDoor",
    "Rights",
    "read_mappings",
    "slurm_converter",
]
