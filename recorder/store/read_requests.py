"""Reading: what facts of requests tell, out of their entries.

An audit record holds who asked for what, and more than a fact would: so their
facts are written without it, and it is read when they are. Those of older
rules tell it themselves.
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

__all__ = ["RequestReader", "is_in_its_entry"]

REQUESTED = FACT_CODES[FactKind.REQUESTED]
WRITTEN = bytes([0]) + IN_ITS_ENTRY
"""As the detail of such a fact lies in the database."""

AT_ONCE = 500
"""Documents, of some kilobytes each."""


def is_in_its_entry(kind: int, detail: bytes) -> bool:
    """Return whether what a fact tells is read from its entry."""
    return kind == REQUESTED and detail == WRITTEN


class RequestReader:
    """Reads what requests in one log told."""

    def __init__(self, log: int, engine: Engine) -> None:
        self._engine = engine
        self._documents = Documents(log)

    async def at(self, positions: Collection[int]) -> Mapping[int, Detail]:
        """Return what the records at some positions tell.

        Those of days that are no longer there are left out.
        """
        told: dict[int, Detail] = {}
        wanted = sorted(set(positions))
        if not wanted:
            return told
        async with asking(self._engine, "read the requests") as connection:
            for first in range(0, len(wanted), AT_ONCE):
                raws = await self._documents.at(
                    connection, wanted[first : first + AT_ONCE]
                )
                for position, raw in raws.items():
                    record = read_record(raw)
                    told[position] = (
                        Requested()
                        if record is None
                        else request(record).detail
                    )
        return told
