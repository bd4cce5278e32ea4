"""Claims: CloudEvents that other systems post about the cluster.

`envelope` reads them out of a request, `door` answers requests, and puts what
a token may claim into the recording.
"""

from recorder.sources.claims.door import CLAIMS_PATH, ClaimDoor, Rights

__all__ = ["CLAIMS_PATH", "ClaimDoor", "Rights"]
