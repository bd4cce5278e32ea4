"""Deriving: the facts of a batch, before it is committed.

The version before an entry is mostly one that was seen a moment ago; its
state is kept for as long as there is room. Another is read from the log, so
that facts do not depend on what happens to be remembered.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from recorder.facts import State, derive, is_compared, state_of
from recorder.intake.ports import Log
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


class Deriver:
    """Derives facts, batch after batch, in the order of the log."""

    def __init__(self, log: Log) -> None:
        self._log = log
        # By the position of the entry that an object has last.
        self._states: OrderedDict[int, State] = OrderedDict()

    async def derive(self, batch: Batch) -> None:
        """Give a batch its facts, unless it has them.

        Raises:
            LogUnavailableError: a version before cannot be read now.
        """
        if batch.facts is not None:
            return
        older = await self._older(batch)
        found: list[tuple[int, Sequence[Fact]]] = []
        for place, (_, draft) in enumerate(batch.drafts):
            if place % AT_ONCE == AT_ONCE - 1:
                await asyncio.sleep(0)
            position = batch.first_position + place
            facts = self._facts(batch, position, draft, older)
            if facts:
                found.append((position, facts))
        batch.facts = found

    def _facts(
        self,
        batch: Batch,
        position: int,
        draft: Draft,
        older: Mapping[int, State],
    ) -> Sequence[Fact]:
        before = None
        if is_compared(draft):
            previous = batch.previous.get(position)
            if previous is not None:
                before = self._states.pop(previous, None)
                before = before or older.get(previous)
        facts, state = derive(draft, before)
        if state is not None:
            self._states[position] = state
            if len(self._states) > STATES_MAX:
                self._states.popitem(last=False)
        return facts

    async def _older(self, batch: Batch) -> Mapping[int, State]:
        """Read the states that are not at hand, by position."""
        resources = {
            batch.previous[position]: draft.resource or ""
            for position, (_, draft) in enumerate(
                batch.drafts, batch.first_position
            )
            if position in batch.previous and is_compared(draft)
        }
        missing = sorted(
            previous
            for previous in resources
            if previous < batch.first_position and previous not in self._states
        )
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
