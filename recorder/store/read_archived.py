"""Reading: which days of a log lie in an archive alone, and where.

They were dropped from this database, or never were in it: their archive was
attached.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from recorder.store.engine import Engine, fetch
from recorder.store.statement import Statement

__all__ = ["DroppedDay", "read_dropped"]

DROPPED = Statement.of("""
    select p.name, p.lower, p.upper, p.observed_min, p.observed_max,
      d.first_batch, d.last_batch, d.first_position, d.last_position, d.uri,
      encode(d.manifest_sha256, 'hex') as sha256, l.uid::text as uid
    from recorder.partition p
    join recorder.archived_day d on d.partition = p.name
    join recorder.log l on l.log_id = d.log_id
    where d.log_id = :log and p.state = 'dropped'
    union all
    select d.name, d.lower, d.upper, d.observed_min, d.observed_max,
      d.first_batch, d.last_batch, d.first_position, d.last_position, d.uri,
      encode(d.manifest_sha256, 'hex'), l.uid::text
    from recorder.attached_day d
    join recorder.log l on l.log_id = d.log_id
    where d.log_id = :log
    order by lower
""")

# The newest of few: runs of an hour lie between two drops.
LAST_DROP = Statement.of("""
    select n.document from recorder.notice n
    where n.log_id = :log and n.document like '%"action":"dropped"%'
    order by n.notice_id desc limit 1
""")


class _Policy(msgspec.Struct):
    longer: dict[str, int] = {}


class _Drop(msgspec.Struct):
    """What a notice of a drop says of what was kept."""

    at: datetime
    policy: _Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedDay:
    """A day of one log that is no longer in the database."""

    name: str
    lower: datetime
    upper: datetime
    observed_min: datetime
    """Of what all logs recorded on the day."""

    observed_max: datetime
    first_batch: int
    last_batch: int
    first_position: int
    last_position: int
    uri: str | None
    """Where it was archived; None where it was not."""

    sha256: str | None
    """Of its manifest."""

    uid: str
    """Of the log."""

    kept: Sequence[str] = ()
    """What stays longer and is in the database still: statements, and kinds
    of which every fact is."""

    @property
    def place(self) -> str:
        """The address of the archive that it is in."""
        return self._parts[0]

    @property
    def folder(self) -> str:
        """Where it is in the archive."""
        return f"{self.uid}/{self._parts[1]}"

    @property
    def _parts(self) -> tuple[str, str]:
        root, _, day = (self.uri or "").rpartition(f"/{self.uid}/")
        return root, day


async def read_dropped(engine: Engine, log: int) -> Sequence[DroppedDay]:
    """Return the days of a log that were dropped, oldest first."""
    rows = await fetch(engine, "read the archived days", DROPPED, log=log)
    said = await fetch(engine, "read what was kept", LAST_DROP, log=log)
    kept = _kept_since(*said[0].values()) if said else {}
    return [
        DroppedDay(
            **dict(row.items()),
            kept=sorted(
                k for k, since in kept.items() if row["lower"] > since
            ),
        )
        for row in rows
    ]


def _kept_since(document: str) -> Mapping[str, datetime]:
    """Return since when a drop kept all that stays longer, by its name."""
    said = msgspec.json.decode(document, type=_Drop)
    return {
        text: said.at - timedelta(days=days)
        for text, days in said.policy.longer.items()
    }
