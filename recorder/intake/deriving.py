"""Deriving: the facts of a batch, before it is committed.

The version before an entry was mostly seen a moment ago; its state is kept
while there is room, and the facts of such an entry are derived as it is
entered, while its document is in the processor's cache. Other states are read
from the log before the batch is committed, so that facts do not depend on what
happens to be remembered.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol

from recorder.facts import State, WrittenFact, is_compared, state_of
from recorder.intake.state import Batch

STATES_MAX = 4_096
"""Remembered states of earlier entries, of 2 to 6 kB each. In a larger cluster
in which everything changes the others are read from the log."""

AT_ONCE = 250
"""Entries derived before other tasks get their turn."""

DOCUMENTS_AT_ONCE = 200


class Documents(Protocol):
    """Reads the versions before entries."""

    async def documents(self, positions: Sequence[int]) -> Mapping[int, bytes]:
        """Return the documents of committed entries by position."""


class Deriver:
    """Derives facts, batch after batch, in the order of the log.

    It bounds the known states of objects, which the component that enters them
    holds: the remembered states, and one for each entry that is not committed.
    """

    def __init__(
        self, log: Documents, *, states_max: int = STATES_MAX
    ) -> None:
        self._log = log
        self._states_max = states_max

    async def derive(self, batch: Batch) -> None:
        """Derive the facts of a batch, unless it has them.

        Raises:
            LogUnavailableError: an earlier version cannot be read now.
        """
        if batch.facts is not None:
            return
        states = batch.states
        wanted = _wanted(batch)
        missing = {p: r for p, r in wanted.items() if p not in states}
        # What was read or known stays until the batch is done: a state that
        # was evicted meanwhile would make an object new again.
        states.learn(await self._read(missing))
        found: list[tuple[int, Sequence[WrittenFact]]] = []
        derived = 0
        for position, (_, draft) in enumerate(
            batch.drafts, batch.first_position
        ):
            facts = batch.read.pop(position, None)
            if not isinstance(facts, list):
                derived += 1
                if derived % AT_ONCE == 0:
                    await asyncio.sleep(0)
                previous = batch.previous.get(position)
                facts = states.facts(position, draft, facts, previous)
            if facts:
                found.append((position, facts))
        # Those of entries that are not committed could not be read again.
        states.forget(more_than=self._states_max, before=batch.first_position)
        batch.facts = found

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
    """Return the earlier entries whose states a batch needs, by resource."""
    first, wanted = batch.first_position, {}
    for position, previous in batch.previous.items():
        if previous < first and not isinstance(batch.read.get(position), list):
            _, draft = batch.drafts[position - first]
            if is_compared(draft):
                wanted[previous] = draft.resource or ""
    return wanted
