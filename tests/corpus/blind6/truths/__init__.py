"""What is true of each incident of the sixth set, before it was played.

Nothing here is changed after it was written; a truth that turns out to be
mistaken is noted in the README and its score stays.
"""

from tests.corpus.blind6.truths.near import NEAR
from tests.corpus.blind6.truths.ordered import ORDERED
from tests.corpus.blind6.truths.quiet import QUIET

__all__ = ["TRUTHS"]

TRUTHS = {truth.name: truth for truth in (*ORDERED, *NEAR, *QUIET)}
"""Every truth, by the name of its incident."""
