"""Plans: which days are dropped now, and why.

Days go in order, the oldest first: what is carried forward lies in one place
before the first day that is whole, so a day that is held keeps those behind
it as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from recorder.keeping.retention.policy import DROP, LOOKBACK, Policy

AGE, BUDGET = "age", "size budget"

YOUNGEST = timedelta(days=1)
"""A day younger than this is never dropped, whatever the budget says; the
database refuses it too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayState:
    """A day that is over and not dropped."""

    name: str
    upper: datetime
    archived: bool
    """Whether it is archived, or need not be."""

    bytes: int
    holds: Sequence[int] = ()

    @property
    def date(self) -> str:
        """Return which day it is, as people write it."""
        return f"{self.upper - timedelta.resolution:%Y-%m-%d}"


@dataclass(frozen=True, slots=True)
class Planned:
    """A day to be dropped, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be dropped, in order."""

    drops: Sequence[Planned]
    stopped_by: str | None = None
    """What keeps a day that should go; None where nothing does."""


def plan(
    days: Sequence[DayState], policy: Policy, *, now: datetime, size: int
) -> Plan:
    """Return what a policy asks for.

    Args:
        days: oldest first.
        policy: it.
        now: by the clock of PostgreSQL.
        size: bytes of the database.
    """
    drops: list[Planned] = []
    for day in days:
        why = _why(day, policy, now=now, size=size)
        if why is None:
            break
        stopped_by = _stops(day, policy)
        if stopped_by is not None:
            return Plan(drops=drops, stopped_by=stopped_by)
        drops.append(Planned(day.name, why))
        size -= day.bytes
    return Plan(drops=drops)


def _why(
    day: DayState, policy: Policy, *, now: datetime, size: int
) -> str | None:
    if day.upper > now - YOUNGEST:
        return None
    if day.upper <= now - policy.hot - LOOKBACK:
        return AGE
    if policy.budget is not None and size > policy.budget:
        return BUDGET
    return None


def _stops(day: DayState, policy: Policy) -> str | None:
    if day.holds:
        holds = ", ".join(map(str, day.holds))
        return f"{day.date} and the days after it are kept by hold {holds}"
    if not day.archived and policy.unarchived != DROP:
        return f"{day.date} is not archived yet"
    return None
