"""Importing dumps: what is on the shelf, in the order of time.

Objects are entered as they were at the time of their dump, Events as of their
own times. A stopped import continues at its place, and an import of the same
files adds nothing.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime

from recorder.intake.ports import Known, Sink
from recorder.intake.receipts import Receipt
from recorder.model.observation import (
    TAPE,
    ListPage,
    Observation,
    PlaceReached,
)
from recorder.sources.dumps.shelf import Placed, Shelf

PAGE_ITEMS = 256
PORTION_BYTES = 1 << 20
VERSION = "dump"
"""Of the lists that a dump is put as: no list of the cluster had it."""


class DumpImport:
    """A shelf as a source of observations."""

    finite = True

    def __init__(
        self,
        shelf: Shelf,
        identity: str,
        *,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Prepare.

        Args:
            shelf: with everything on it.
            identity: of the imported files.
            on_progress: called with the number of what was put.
        """
        self._shelf = shelf
        self._stream = f"import:{identity}"
        self._on_progress = on_progress
        self._page: list[Placed] = []
        self._uids: set[str] = set()
        self._portion: list[Observation] = []
        self._size = 0
        self._count = 0
        self.is_done = False
        """Whether everything is in the log."""

    async def run(self, sink: Sink, known: Known) -> None:
        """Put everything after the place of an earlier import."""
        self._count = int(known.resume_points().get(self._stream) or 0)
        receipt: Receipt | None = None
        for one in self._shelf.placed(self._count):
            if self._is_other_page(one):
                self._close_page()
            if self._size >= PORTION_BYTES:
                self._close_page()
                receipt = await self._put(sink)
            self._page.append(one)
            self._uids.add(one.uid)
            self._size += len(one.raw)
            self._count += 1
        self._close_page()
        if self._portion:
            receipt = await self._put(sink, ended=True)
        if receipt is not None:
            await receipt.committed()
        self.is_done = True

    def _is_other_page(self, one: Placed) -> bool:
        if not self._page:
            return False
        first = self._page[0]
        return (
            (first.at, first.resource) != (one.at, one.resource)
            or len(self._page) >= PAGE_ITEMS
            or one.uid in self._uids
        )

    def _close_page(self) -> None:
        if not self._page:
            return
        first = self._page[0]
        self._portion.append(
            ListPage(
                observed_at=first.at,
                resource=first.resource,
                resource_version=VERSION,
                items=[one.raw for one in self._page],
                more=False,
                kind=first.kind,
                partial=True,
            )
        )
        # A page is looked up in the log with all before it committed.
        self._portion.append(self._reached(first.at))
        self._page, self._uids = [], set()

    async def _put(self, sink: Sink, *, ended: bool = False) -> Receipt:
        portion, self._portion, self._size = self._portion, [], 0
        if ended:
            last = portion[-1]
            portion.append(self._reached(last.observed_at, ended=True))
        receipt = await sink.put(portion)
        self._on_progress(self._count)
        await asyncio.sleep(0)
        return receipt

    def _reached(self, at: datetime, *, ended: bool = False) -> PlaceReached:
        return PlaceReached(
            observed_at=at,
            source=TAPE,
            stream=self._stream,
            place=str(self._count),
            state="ended" if ended else "live",
        )
