"""What happened, according to the log: entries to facts.

`classify` reads columns and changes from documents, `projections` fold facts
into the state at a time, and `coverage` finds where a log is not complete.
Pure: no clock, no store and no meaning. Whether a condition is a fault is for
`explain` to say.
"""

from recorder.facts.bearing import (
    DAILY_REPORTERS,
    DEBUGGER,
    HOST_COMMAND,
    MANAGED_BY,
    NO_EVICTORS,
    REFUSED,
    Bearing,
    displacement,
    is_evidence,
    is_sign,
    place_of,
)
from recorder.facts.deriver import (
    DERIVATION,
    Derived,
    Read,
    appearance,
    derive,
    is_compared,
    read_entry,
    state_of,
)
from recorder.facts.known import Entered, KnownStates
from recorder.facts.marks import Mark, Marks
from recorder.facts.saying import says, says_with_object
from recorder.facts.state import State
from recorder.facts.writing import WrittenFact, owner_of, written

__all__ = [
    "Bearing",
    "DAILY_REPORTERS",
    "DEBUGGER",
    "HOST_COMMAND",
    "MANAGED_BY",
    "NO_EVICTORS",
    "DERIVATION",
    "Derived",
    "Entered",
    "KnownStates",
    "Mark",
    "Marks",
    "Read",
    "State",
    "REFUSED",
    "WrittenFact",
    "appearance",
    "derive",
    "displacement",
    "is_compared",
    "is_evidence",
    "is_sign",
    "owner_of",
    "place_of",
    "read_entry",
    "says",
    "says_with_object",
    "state_of",
    "written",
]
