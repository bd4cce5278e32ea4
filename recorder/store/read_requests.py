"""Reads the details of requests from their entries.

An audit record has more details than a fact, so that facts of requests are
stored without them, and the entry is read with the fact. Facts by older rules
have the details themselves.
"""

from collections.abc import Collection, Mapping

from recorder.facts.audits import request
from recorder.facts.classify import read_record
from recorder.facts.writing import IN_ITS_ENTRY
from recorder.model.fact import FactKind
from recorder.model.facts import Detail, Requested
from recorder.store.codes import FACT_CODES
from recorder.store.engine import Engine, asking
from recorder.store.read_documents import Documents

REQUESTED = FACT_CODES[FactKind.REQUESTED]
WRITTEN = bytes([0]) + IN_ITS_ENTRY
"""The stored detail of such a fact."""

AT_ONCE = 500
"""Documents of some kilobytes each."""


def is_in_its_entry(kind: int, detail: bytes) -> bool:
    """Return whether the detail of a fact is read from its entry."""
    return kind == REQUESTED and detail == WRITTEN


class RequestReader:
    """Reads the details of requests in one log."""

    def __init__(self, log: int, engine: Engine) -> None:
        self._engine = engine
        self._documents = Documents(log)

    async def at(self, positions: Collection[int]) -> Mapping[int, Detail]:
        """Return the details of the audit records at positions.

        Those in dropped days are left out.
        """
        found: dict[int, Detail] = {}
        wanted = sorted(set(positions))
        if not wanted:
            return found
        async with asking(self._engine, "read the requests") as connection:
            for first in range(0, len(wanted), AT_ONCE):
                raws = await self._documents.at(
                    connection, wanted[first : first + AT_ONCE]
                )
                for position, raw in raws.items():
                    record = read_record(raw)
                    found[position] = (
                        Requested()
                        if record is None
                        else request(record).detail
                    )
        return found
