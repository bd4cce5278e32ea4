"""Checks holds against the entries that record them.

A hold keeps days from being dropped: a user who can edit its row could have
them dropped. The entry of a hold is hashed and signed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import asyncpg
import msgspec

from recorder.integrity.chain import Problem
from recorder.store.read_batches import LogEnd
from recorder.store.read_retained import (
    recorded_of_retention,
    waiting_of_retention,
)
from recorder.store.statement import Statement

HOLDS = Statement.of("""
    select h.hold_id as hold, h.since, h.until, h.node, h.incident, h.who,
      h.why, h.placed_at < d.kept_since as is_old,
      l.hold_id is not null as is_lifted, l.who as lifted_by,
      l.why as lifted_why, l.lifted_at < d.kept_since as is_lifted_old
    from recorder.hold h left join recorder.hold_lifted l using (hold_id),
    lateral (select coalesce(max(upper), '-infinity') as kept_since
      from recorder.partition where state = 'dropped') d
    where h.log_id = :log
    order by h.hold_id
""")


class _Said(msgspec.Struct):
    """The content of an entry or a notice of a hold."""

    action: str
    hold: int = 0
    since: datetime | None = None
    until: datetime | None = None
    node: str | None = None
    incident: str | None = None
    who: str | None = None
    why: str | None = None


class _Action(msgspec.Struct):
    action: str


PLACED = ("since", "until", "node", "incident", "who", "why")


@dataclass(slots=True)
class _Recorded:
    """The holds that a log records, by number, with the position."""

    placed: dict[int, tuple[int | None, _Said]] = field(default_factory=dict)
    lifted: dict[int, tuple[int | None, _Said]] = field(default_factory=dict)

    def add(self, position: int | None, document: bytes | str) -> None:
        """Add an entry or a notice if it is of a hold."""
        try:
            action = msgspec.json.decode(document, type=_Action).action
            if action not in {"hold placed", "hold lifted"}:
                return
            said = msgspec.json.decode(document, type=_Said)
        except msgspec.MsgspecError:
            return
        found = self.placed if action == "hold placed" else self.lifted
        found.setdefault(said.hold, (position, said))


async def hold_problems(
    connection: asyncpg.Connection, end: LogEnd
) -> list[Problem]:
    """Return problems of holds that differ from their entries.

    The entries of holds placed or lifted in dropped days may be missing.
    """
    recorded = _Recorded()
    entries = await recorded_of_retention(connection, end)
    for position, document in entries.items():
        recorded.add(position, document)
    for notice in await waiting_of_retention(connection, end):
        recorded.add(None, notice)
    rows = {
        row["hold"]: row for row in await HOLDS.fetch(connection, log=end.log)
    }
    problems: list[Problem] = []
    for row in rows.values():
        problems += _compared(row, recorded)
    for number, (placed_at, _) in recorded.placed.items():
        if number not in rows:
            says = f"hold {number} was placed, and its row is gone"
            problems.append(_problem("hold-missing", placed_at, says))
    return problems


def _compared(
    row: Mapping[str, object], recorded: _Recorded
) -> Iterator[Problem]:
    number = row["hold"]
    assert isinstance(number, int)
    position, said = recorded.placed.get(number, (None, None))
    if said is None:
        if not row["is_old"]:
            says = f"hold {number} exists, but no entry records it"
            yield _problem("hold-unrecorded", None, says)
    elif changed := [
        name for name in PLACED if getattr(said, name) != row[name]
    ]:
        says = (
            f"hold {number} was placed with another {', '.join(changed)} than"
            " it has now"
        )
        yield _problem("hold-altered", position, says)
    lifted_at, lifted = recorded.lifted.get(number, (None, None))
    if lifted is None:
        if row["is_lifted"] and not (said is None and row["is_lifted_old"]):
            says = f"hold {number} is lifted, but no entry records that"
            yield _problem("hold-unrecorded", position, says)
    elif not row["is_lifted"]:
        says = f"hold {number} was lifted, but its row says that it is not"
        yield _problem("hold-altered", lifted_at, says)
    elif (lifted.who, lifted.why) != (row["lifted_by"], row["lifted_why"]):
        says = (
            f"hold {number} was lifted by another user or for another reason"
        )
        yield _problem("hold-altered", lifted_at, says)


def _problem(kind: str, position: int | None, says: str) -> Problem:
    return Problem(kind=kind, position=position, says=says)
