"""Policies: for how long days stay in the database, and what comes of them.

Days are archived whole and dropped whole. Settings that contradict each other
are an error that names them, before anything is done.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from recorder.model.errors import ConfigError

LOOKBACK = timedelta(days=1)
"""Answers about a window look a day further back, so a day more is kept."""

HOT_MIN = timedelta(days=1)
DAYS_MAX = 36_500
"""A hundred years: what is meant to stay for ever says so like this."""

BUDGET_MIN = 256 << 20
"""Bytes; an empty database takes a tenth of it."""

NOWHERE = "none"
DROP, KEEP = "drop", "keep"


class PolicyError(ConfigError):
    """A policy contradicts itself, or has a value that cannot be."""

    code = "retention.policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What is kept, for how long, and where."""

    hot: timedelta = timedelta(days=7)
    """For how long whole days stay in the database."""

    place: str | None = None
    """Where days are archived; None where they are not."""

    unarchived: str = KEEP
    """``drop`` where days may be dropped without an archive."""

    budget: int | None = None
    """Bytes above which the oldest days go before their time."""

    def document(self) -> Mapping[str, Any]:
        """Return it as a notice states it."""
        return {
            "hot_days": round(self.hot / timedelta(days=1), 3),
            "archive": self.place,
            "unarchived": self.unarchived,
            "budget_bytes": self.budget,
        }


def read_policy(
    *,
    hot: timedelta,
    place: str,
    unarchived: str,
    budget: int | None,
) -> Policy:
    """Return the policy of some settings.

    Args:
        hot: for how long days stay.
        place: of the archive; ``none`` for none.
        unarchived: ``keep`` or ``drop``.
        budget: in bytes; None for none.

    Raises:
        PolicyError: it contradicts itself; the keys are named.
    """
    if hot < HOT_MIN:
        msg = "retention_hot must be a day (1d) or more"
        raise PolicyError(msg)
    if hot > timedelta(days=DAYS_MAX):
        msg = f"retention_hot must be {DAYS_MAX}d or less"
        raise PolicyError(msg)
    if unarchived not in {DROP, KEEP}:
        msg = f'retention_unarchived is "{unarchived}": write keep or drop'
        raise PolicyError(msg)
    if place == NOWHERE and unarchived != DROP:
        msg = (
            'retention_archive = "none" and retention_unarchived = "keep"'
            " contradict each other: nothing could ever be dropped. Name a"
            ' place, or say retention_unarchived = "drop"'
        )
        raise PolicyError(msg)
    if place != NOWHERE and unarchived == DROP:
        msg = (
            f'retention_archive = "{place}" and retention_unarchived = "drop"'
            " contradict each other: days would be dropped that the archive"
            ' lacks. Say retention_archive = "none", or leave the other out'
        )
        raise PolicyError(msg)
    if budget is not None and budget < BUDGET_MIN:
        msg = f"retention_budget must be {BUDGET_MIN >> 20}MB or more"
        raise PolicyError(msg)
    return Policy(
        hot=hot,
        place=None if place == NOWHERE else place,
        unarchived=unarchived,
        budget=budget,
    )
