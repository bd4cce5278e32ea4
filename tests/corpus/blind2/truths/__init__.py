"""What is true of each incident of the second set, before it was played.

Nothing here is changed after the set was scored; a truth that turns out to be
mistaken is noted in the README and its score stays.
"""

from tests.corpus.blind2.truths.beside import BESIDE
from tests.corpus.blind2.truths.controllers import CONTROLLERS
from tests.corpus.blind2.truths.nodes import NODES

__all__ = ["TRUTHS"]

TRUTHS = {truth.name: truth for truth in (*CONTROLLERS, *BESIDE, *NODES)}
"""Every truth, by the name of its incident."""
