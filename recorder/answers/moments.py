"""Coverage of one moment, for answers that depend only on the state then."""

from datetime import datetime

from msgspec.structs import replace

from recorder.answers.ports import Reading
from recorder.facts.coverage.coverage import Coverage, covered
from recorder.facts.coverage.ports import Reads
from recorder.model.window import Window


async def covered_at(
    reading: Reading, at: datetime | None, *, now: datetime, reads: Reads
) -> Coverage:
    """Return the coverage of a moment, or of the end of a log."""
    if at is not None:
        window = Window(at, at)
    else:
        vouched = [
            stream.vouched_until
            for stream in reading.streams
            if reads(stream.source, stream.resource)
        ]
        window = Window(vouched[0] if vouched else None, None)
    coverage = await covered(reading, window, now=now, reads=reads)
    return coverage if at is not None else replace(coverage, since=None)
