"""Deriving: the facts of a batch, before it is committed.

The version before an entry is mostly one that was seen a moment ago; its
state is kept for as long as there is room. Another is read from the log, so
that facts do not depend on what happens to be remembered.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Protocol

from recorder.facts import State, derive, is_compared, state_of
from recorder.intake.state import Batch
from recorder.model.entry import Draft
from recorder.model.fact import Fact

__all__ = ["Deriver"]

STATES_MAX = 8_192
"""States remembered, of 2 to 6 kB each. A larger cluster of which everything
changes reads the others from the log."""

AT_ONCE = 250
"""Entries derived before others get their turn."""

DOCUMENTS_AT_ONCE = 200


class Documents(Protocol):
    """Where the version before an entry is read."""

    async def documents(self, positions: Sequence[int]) -> Mapping[int, bytes]:
        """Give the documents of committed entries by position."""


class Deriver:
    """Derives facts, batch after batch, in the order of the log.

    Memory: the states that are remembered, and one for each entry of a batch
    that is about something else.
    """

    def __init__(
        self, log: Documents, *, states_max: int = STATES_MAX
    ) -> None:
        self._log = log
        self._states_max = states_max
        # By the position of the entry that an object has last.
        self._states: OrderedDict[int, State] = OrderedDict()

    @property
    def remembered(self) -> int:
        """How many states are kept between batches."""
        return len(self._states)

    async def derive(self, batch: Batch) -> None:
        """Give a batch its facts, unless it has them.

        Raises:
            LogUnavailableError: a version before cannot be read now.
        """
        if batch.facts is not None:
            return
        states = self._states
        wanted = _wanted(batch)
        missing = {p: r for p, r in wanted.items() if p not in states}
        # What is read and what is at hand stay so until the batch is done:
        # a state that fell out meanwhile would make an object new again.
        states.update(await self._read(missing))
        found: list[tuple[int, Sequence[Fact]]] = []
        for place, (_, draft) in enumerate(batch.drafts):
            if place % AT_ONCE == AT_ONCE - 1:
                await asyncio.sleep(0)
            position = batch.first_position + place
            facts = self._facts(batch, position, draft)
            if facts:
                found.append((position, facts))
        while len(states) > self._states_max:
            states.popitem(last=False)
        batch.facts = found

    def _facts(
        self, batch: Batch, position: int, draft: Draft
    ) -> Sequence[Fact]:
        before = None
        previous = batch.previous.get(position)
        read = batch.read.pop(position, None)
        if previous is not None and is_compared(draft):
            before = self._states.pop(previous, None)
        facts, state = derive(draft, before, read)
        if state is not None:
            self._states[position] = state
        return facts

    async def _read(self, resources: Mapping[int, str]) -> dict[int, State]:
        """Read the states after entries, with their resources by position."""
        missing = sorted(resources)
        found: dict[int, State] = {}
        for start in range(0, len(missing), DOCUMENTS_AT_ONCE):
            wanted = missing[start : start + DOCUMENTS_AT_ONCE]
            documents = await self._log.documents(wanted)
            for position, raw in documents.items():
                state = state_of(raw, resources[position])
                if state is not None:
                    found[position] = state
            await asyncio.sleep(0)
        return found


def _wanted(batch: Batch) -> dict[int, str]:
    """Give the entries before a batch whose states it needs, by resource."""
    return {
        previous: draft.resource or ""
        for position, (_, draft) in enumerate(
            batch.drafts, batch.first_position
        )
        if (previous := batch.previous.get(position)) is not None
        and previous < batch.first_position
        and is_compared(draft)
    }
