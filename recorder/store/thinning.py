"""The steps by which entries go out of a day that stays.

What goes is chosen once, its hashes are noted batch by batch, the day is built
again beside itself without it, and one short transaction puts that in place.
Whatever ends a run before, the day is as it was, and the next one begins anew.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from recorder.integrity.thinned import Thinned
from recorder.retention.policy import Policy, Rule
from recorder.store.read_day import Day
from recorder.store.steps import Steps

__all__ = ["Gone", "ThinningStore", "asked_of"]

BEGIN = "select recorder.begin_thinning($1, $2, $3)"
STAGE = "select recorder.stage_thinned($1, $2, $3, $4, $5)"
BUILD = """
    select log_id, rule, entries, facts
    from recorder.build_thinned($1, $2, $3, $4)
"""
THIN = "select recorder.thin_partition($1, $2, $3, $4, $5)"

GOING = """
    select position from recorder.thin_next
    where log_id = $1 and position between $2 and $3 order by position
"""
COUNT = """
    select rule, count(*) from recorder.rows_to_thin($1, $2) group by rule
"""


class Gone(NamedTuple):
    """How much of a log goes by a rule."""

    log: int
    rule: str
    entries: int
    facts: int


def asked_of(rules: Sequence[Rule], policy: Policy) -> str:
    """Return what the database is asked by."""
    asked = {
        "rules": [rule.document() for rule in rules],
        "longer": list(policy.longer),
    }
    return orjson.dumps(asked).decode()


class ThinningStore(Steps):
    """The steps, over one connection."""

    async def count(self, day: Day, asked: str) -> Mapping[str, int]:
        """Return how many entries would go out of a day, by rule."""
        rows = await self._connection.fetch(COUNT, day.name, asked)
        return dict(map(tuple, rows))

    async def begin(self, day: Day, unarchived: str, asked: str) -> int:
        """Choose what goes out of a day; return the number of the run."""
        run: int = await self._patiently(
            f"thin out {day.name}", BEGIN, day.name, unarchived, asked
        )
        return run

    async def going(self, log: int, first: int, last: int) -> Sequence[int]:
        """Return what was chosen between two positions, ascending."""
        rows = await self._connection.fetch(GOING, log, first, last)
        return [position for (position,) in rows]

    async def stage(self, run: int, log: int, one: Thinned) -> None:
        """Note the hashes of what goes out of a batch."""
        await self._patiently("note what goes", STAGE, run, log, *one)

    async def build(
        self, day: Day, run: int, unarchived: str, asked: str
    ) -> Sequence[Gone]:
        """Build a day without what goes, beside it."""
        action = f"thin out {day.name}"
        rows = await self._patiently_rows(
            action, BUILD, day.name, run, unarchived, asked
        )
        return [Gone(*row) for row in rows]

    async def thin(
        self,
        day: Day,
        run: int,
        how: tuple[str, str],
        made: Sequence[Mapping[str, Any]],
        notices: Mapping[int, Any],
    ) -> float:
        """Put in place what was built, and leave notices of it, by log.

        Args:
            day: it.
            run: its number.
            how: what the policy says of days that nobody archived, and what
                the database was asked by.
            made: what went of each log, as it is noted.
            notices: for the writers of logs.

        Returns:
            The seconds that it took from asking for locks to letting them go.
        """
        noted = orjson.dumps(list(made)).decode()
        return await self._briefly(
            f"thin out {day.name}", notices, THIN, day.name, run, *how, noted
        )
