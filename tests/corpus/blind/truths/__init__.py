"""What is true of each blind incident, written before it was played.

Nothing here is changed after the set was scored; a truth that turns out to be
mistaken is noted in the README and its score stays.
"""

from tests.corpus.blind.truths.mechanisms import MECHANISMS
from tests.corpus.blind.truths.nearby import NEARBY
from tests.corpus.blind.truths.persons import PERSONS
from tests.corpus.blind.truths.programs import PROGRAMS

__all__ = ["TRUTHS"]

TRUTHS = {
    truth.name: truth for truth in (*PROGRAMS, *MECHANISMS, *PERSONS, *NEARBY)
}
"""Every truth, by the name of its incident."""
