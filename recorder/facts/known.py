"""The states of objects, for as long as there is room to remember them."""

from collections import OrderedDict
from collections.abc import Mapping

from recorder.classify import Wire
from recorder.facts.deriver import Read, derive, is_compared, read_entry
from recorder.facts.state import State
from recorder.model.entry import Draft
from recorder.model.fact import Fact

__all__ = ["KnownStates"]


class KnownStates:
    """The states of objects after their newest entries, as far as known.

    By the position of the entry. Whoever derives the next entry of an object
    takes its state out, and puts the new one in.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[int, State] = OrderedDict()

    def __len__(self) -> int:
        """Count them."""
        return len(self._kept)

    def __contains__(self, position: int) -> bool:
        """Tell whether the state after an entry is known."""
        return position in self._kept

    def learn(self, states: Mapping[int, State]) -> None:
        """Take states that were read from the log."""
        self._kept.update(states)

    def enter(
        self,
        position: int,
        draft: Draft,
        wire: Wire | None,
        previous: int | None,
    ) -> Read:
        """Give the facts of an entry, if the state before it is known.

        If not, give what they are made of, for a `Deriver`.
        """
        read = read_entry(draft, wire)
        known = previous is None or previous in self._kept
        if isinstance(read, list) or not known:
            return read
        return self.facts(position, draft, read, previous)

    def facts(
        self,
        position: int,
        draft: Draft,
        read: Read | None,
        previous: int | None,
    ) -> list[Fact]:
        """Derive the facts of an entry from what is known before it."""
        before = None
        if previous is not None and is_compared(draft):
            before = self._kept.pop(previous, None)
        facts, state = derive(draft, before, read)
        if state is not None:
            self._kept[position] = state
        return facts

    def forget(self, *, more_than: int, before: int) -> None:
        """Forget the oldest above a number, of entries before a position."""
        kept = self._kept
        while len(kept) > more_than and next(iter(kept)) < before:
            kept.popitem(last=False)
