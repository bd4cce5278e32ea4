"""What is true of each incident of the third set, before it was played.

Nothing here is changed after the set was scored; a truth that turns out to be
mistaken is noted in the README and its score stays.
"""

from tests.corpus.blind3.truths.nodes import NODES
from tests.corpus.blind3.truths.pods import PODS

__all__ = ["TRUTHS"]

TRUTHS = {truth.name: truth for truth in (*NODES, *PODS)}
"""Every truth, by the name of its incident."""
