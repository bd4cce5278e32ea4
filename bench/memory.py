"""How long this machine takes to read what no cache holds, in this minute.

Most of a document's time is spent in such reads, and on a shared machine they
take twice as long in one hour as in another: without this number two runs
cannot be compared.
"""

import time
from array import array

__all__ = ["cold_read_ns"]

COLD_WORDS = 1 << 24
"""128 MiB, more than any cache of the machines that we measure on."""

WARM_WORDS = 1 << 9
READS = 400_000


def cold_read_ns() -> float:
    """Return by how many nanoseconds a cold read exceeds a warm one.

    Each read waits for the one before.
    """
    warm, cold = (
        min(_read_ns(words) for _ in range(3))
        for words in (WARM_WORDS, COLD_WORDS)
    )
    return cold - warm


def _read_ns(words: int) -> float:
    zeros = array("Q", bytes(8 * words))
    last = words - 1
    place = 1
    began = time.perf_counter_ns()
    for _ in range(READS):
        # Goes through all places, one as far from the next as it may be.
        place = (1_664_525 * place + 1_013_904_223 + zeros[place]) & last
    return (time.perf_counter_ns() - began) / READS
