"""Whether the buckets answer that keep the archive and the checkpoints.

That a bucket may be written is seen when it is: nothing is put there.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import timedelta

from recorder.doctor.check import Check, within
from recorder.errors import RecorderError

__all__ = ["LIMIT", "look_at_buckets"]

LIMIT = timedelta(seconds=10)
REMEDY = (
    "check the endpoint (AWS_ENDPOINT_URL), the credentials, and the network"
    " between here and the bucket"
)


async def look_at_buckets(
    buckets: Mapping[str, Callable[[], Awaitable[None]]],
    limit: timedelta = LIMIT,
) -> AsyncIterator[Check]:
    """Look at each bucket, by its address."""
    for address, look in buckets.items():
        try:
            await within(limit, f'read "{address}"', look())
        except RecorderError as exc:
            yield Check(name="bucket", ok=False, says=str(exc), remedy=REMEDY)
        else:
            yield Check(name="bucket", ok=True, says=f"{address} answers")
