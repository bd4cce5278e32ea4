"""What happened, according to the log: entries to facts.

Pure. It knows no clock, no store and no meaning: whether a condition is a
fault is for `explain` to say.
"""

from recorder.facts.bearing import (
    DAILY_REPORTERS,
    TOPOLOGY,
    is_evidence,
    place_of,
)
from recorder.facts.deriver import (
    DERIVATION,
    Derived,
    Read,
    appearance,
    derive,
    is_compared,
    is_sign,
    read_entry,
    state_of,
)
from recorder.facts.known import KnownStates
from recorder.facts.saying import says, says_with_object
from recorder.facts.state import State

__all__ = [
    "DAILY_REPORTERS",
    "DERIVATION",
    "Derived",
    "KnownStates",
    "Read",
    "State",
    "TOPOLOGY",
    "appearance",
    "derive",
    "is_compared",
    "is_evidence",
    "is_sign",
    "place_of",
    "read_entry",
    "says",
    "says_with_object",
    "state_of",
]
