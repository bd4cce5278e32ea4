"""Reads which days of a log are in an archive, and where.

They were dropped from this database, or their archive was attached to it, or
an earlier release thinned them, so that the database has only a part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recorder.facts import DERIVATION
from recorder.store.engine import Engine, fetch
from recorder.store.statement import Statement

# Nothing proves the times noted for a day that is not here: they can only
# extend the day itself.
ARCHIVED = Statement.of("""
    select p.name, p.lower, p.upper,
      least(p.observed_min, p.lower) as observed_min,
      greatest(p.observed_max, p.upper - interval '1 microsecond')
        as observed_max,
      d.first_batch, d.last_batch, d.first_position, d.last_position, d.uri,
      encode(d.manifest_sha256, 'hex') as sha256, l.uid::text as uid,
      p.state <> 'dropped' as is_here, f.rules as later_rules,
      f.sha256 as later_sha256
    from recorder.partition p
    join recorder.archived_day d on d.partition = p.name
    join recorder.log l on l.log_id = d.log_id
    left join lateral (
      select rules, encode(manifest_sha256, 'hex') as sha256
      from recorder.later_facts f
      where f.log_id = d.log_id and f.day = d.partition and f.rules <= :rules
      order by f.rules desc limit 1) f on true
    where d.log_id = :log and (p.state = 'dropped' or d.uri is not null
      and exists (select from recorder.thinning g
        where g.partition = p.name and g.log_id = d.log_id and g.entries > 0))
    union all
    select d.name, d.lower, d.upper, least(d.observed_min, d.lower),
      greatest(d.observed_max, d.upper - interval '1 microsecond'),
      d.first_batch, d.last_batch, d.first_position, d.last_position, d.uri,
      encode(d.manifest_sha256, 'hex'), l.uid::text, false, f.rules, f.sha256
    from recorder.attached_day d
    join recorder.log l on l.log_id = d.log_id
    left join lateral (
      select rules, encode(manifest_sha256, 'hex') as sha256
      from recorder.later_facts f
      where f.log_id = d.log_id and f.day = d.name and f.rules <= :rules
      order by f.rules desc limit 1) f on true
    where d.log_id = :log
    order by lower
""")

# A drop changes the head, and the other tables only grow.
STANDING = Statement.of("""
    select h.pruned_batches,
      (select max(a.last_batch) from recorder.attached_day a
        where a.log_id = :log) as attached,
      (select max(g.run) from recorder.thinning g
        where g.log_id = :log) as thinned,
      (select count(*) from recorder.later_facts f
        where f.log_id = :log) as later
    from recorder.log_head h where h.log_id = :log
""")

REMOVED = Statement.of("""
    select exists (
      select from recorder.batch b
      join recorder.thinned t on t.log_id = b.log_id and t.batch = b.batch
      join recorder.thinning g on g.log_id = t.log_id and g.run = t.run
      where b.log_id = :log and b.first_position = (
          select max(first_position) from recorder.batch
          where log_id = :log and first_position <= :position)
        and :position - b.first_position = any (t.offsets))
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedDay:
    """A day of one log that is not in the database, or only in part."""

    name: str
    lower: datetime
    upper: datetime
    observed_min: datetime
    """The least of all logs on the day."""

    observed_max: datetime
    first_batch: int
    last_batch: int
    first_position: int
    last_position: int
    uri: str | None
    """The address of its archive; None if it was not archived."""

    sha256: str | None
    """Digest of its manifest."""

    uid: str
    """UID of the log."""

    later_rules: int | None = None
    """Rules of the newest facts derived for it later, if there are any."""

    later_sha256: str | None = None
    """Digest of their manifest."""

    is_here: bool = False
    """Whether the thinned day is in the database."""

    @property
    def place(self) -> str:
        """The address of the archive."""
        return self._parts[0]

    @property
    def folder(self) -> str:
        """Its folder in the archive."""
        return f"{self.uid}/{self._parts[1]}"

    @property
    def _parts(self) -> tuple[str, str]:
        root, _, day = (self.uri or "").rpartition(f"/{self.uid}/")
        return root, day


async def archived_standing(engine: Engine, log: int) -> object:
    """Return a value that changes whenever `read_archived` would.

    The log must exist; the value is never None.
    """
    (row,) = await fetch(engine, "read what was dropped", STANDING, log=log)
    return tuple(row.values())


async def read_archived(engine: Engine, log: int) -> Sequence[ArchivedDay]:
    """Return the days of a log that are not or only partly here, in order."""
    rows = await fetch(
        engine,
        "read the archived days",
        ARCHIVED,
        log=log,
        rules=DERIVATION,
    )
    return [ArchivedDay(**dict(row.items())) for row in rows]


async def was_removed(engine: Engine, log: int, position: int) -> bool:
    """Return whether an entry was removed from a thinned day."""
    rows = await fetch(
        engine, "look for an entry", REMOVED, log=log, position=position
    )
    found: bool = rows[0][0]
    return found
