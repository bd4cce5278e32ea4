"""The states of objects, for as long as there is room to remember them.

What follows from a state is derived in `deriver.py` alone: here is only what
it derives from. ``python -m bench mixed`` shows what remembering saves.
"""

from collections.abc import Mapping
from itertools import islice

from recorder.facts.deriver import (
    Document,
    Read,
    derive,
    is_compared,
    read_entry,
)
from recorder.facts.state import State, Wire
from recorder.facts.writing import WrittenFact, written
from recorder.model.entry import Draft

Entered = Wire | list[WrittenFact]
"""The facts of an entry, or its document where the state before it is not at
hand."""


class KnownStates:
    """The states of objects after their newest entries, as far as known.

    By the position of the entry. Deriving the next entry of an object takes
    its state out and puts the new one in.
    """

    def __init__(self) -> None:
        self._kept: dict[int, State] = {}

    def __len__(self) -> int:
        """Count them."""
        return len(self._kept)

    def __contains__(self, position: int) -> bool:
        """Return whether the state after an entry is known."""
        return position in self._kept

    def learn(self, states: Mapping[int, State]) -> None:
        """Take states that were read from the log."""
        self._kept.update(states)

    def enter(
        self,
        position: int,
        draft: Draft,
        wire: Document | None,
        previous: int | None,
    ) -> Entered:
        """Return the facts of an entry, if the state before it is known.

        If not, give its document, for a `Deriver`.
        """
        read = read_entry(draft, wire)
        if isinstance(read, list):
            return [written(fact) for fact in read]
        if previous is not None and previous not in self._kept:
            return read
        return self.facts(position, draft, read, previous)

    def facts(
        self,
        position: int,
        draft: Draft,
        read: Read | None,
        previous: int | None,
    ) -> list[WrittenFact]:
        """Derive the facts of an entry from what is known before it."""
        before = None
        if previous is not None and (read is not None or is_compared(draft)):
            before = self._kept.pop(previous, None)
        facts, state = derive(draft, before, read)
        if state is not None:
            self._kept[position] = state
        return [written(fact) for fact in facts]

    def forget(self, *, more_than: int, before: int) -> None:
        """Forget the oldest above a number, of entries before a position."""
        kept = self._kept
        for position in list(islice(kept, max(len(kept) - more_than, 0))):
            if position >= before:
                break
            del kept[position]
