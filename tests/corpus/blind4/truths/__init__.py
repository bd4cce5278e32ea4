"""What is true of each incident of the fourth set, before it was played.

Nothing here is changed after it was written; a truth that turns out to be
mistaken is noted in the README and its score stays.
"""

from tests.corpus.blind4.truths.alone import ALONE
from tests.corpus.blind4.truths.ordered import ORDERED
from tests.corpus.blind4.truths.pods import PODS

__all__ = ["TRUTHS"]

TRUTHS = {truth.name: truth for truth in (*ORDERED, *ALONE, *PODS)}
"""Every truth, by the name of its incident."""
