"""How full a size budget is, and what follows from it.

Above the budget the oldest days go before their time. A recorder that nothing
makes room for stops before it outgrows the budget by more than a tenth.
"""

from typing import Literal

__all__ = ["STOP", "Stage", "stage_of"]

Stage = Literal["within", "near", "over", "full"]

NEAR = 0.8
"""Of the budget, from which on it is worth a line."""

STOP = 1.1
"""Of the budget, from which on nothing is recorded. Days are dropped whole and
only once they are archived, so the budget itself cannot be the end."""


def stage_of(size: int, budget: int | None) -> Stage | None:
    """Return how full a budget is at a size, in bytes; None without one."""
    if budget is None:
        return None
    if size >= STOP * budget:
        return "full"
    if size > budget:
        return "over"
    return "near" if size > NEAR * budget else "within"
