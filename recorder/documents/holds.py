"""Holds, as the public interface shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from recorder.model.document import Document
from recorder.model.hold import Hold
from recorder.model.moment import written

__all__ = ["HoldsDocument"]


class HoldDocument(Document, frozen=True, kw_only=True):
    """One hold."""

    hold: int
    log: int | None
    since: datetime | None
    until: datetime | None
    node: str | None
    incident: str | None
    who: str
    why: str
    placed_at: datetime
    lifted_at: datetime | None
    lifted_by: str | None
    lifted_why: str | None

    def row(self) -> list[str]:
        """Return it as a row of a table."""
        lifted = ""
        if self.lifted_at is not None:
            lifted = f"lifted by {self.lifted_by}: {self.lifted_why}"
        return [
            str(self.hold),
            "" if self.log is None else str(self.log),
            "" if self.since is None else written(self.since),
            "" if self.until is None else written(self.until),
            self.node or "",
            self.incident or "",
            self.who,
            self.why,
            lifted,
        ]


class HoldsDocument(Document, frozen=True, kw_only=True):
    """Every hold."""

    holds: Sequence[HoldDocument]

    @classmethod
    def of(cls, holds: Sequence[Hold]) -> Self:
        """Return the document of some holds."""
        return cls(
            holds=[
                HoldDocument(
                    hold=one.hold_id,
                    log=one.log_id,
                    since=one.since,
                    until=one.until,
                    node=one.node,
                    incident=one.incident,
                    who=one.who,
                    why=one.why,
                    placed_at=one.placed_at,
                    lifted_at=one.lifted_at,
                    lifted_by=one.lifted_by,
                    lifted_why=one.lifted_why,
                )
                for one in holds
            ]
        )
