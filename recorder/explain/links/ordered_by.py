"""Ordered by: who is behind an intervention."""

from collections.abc import Sequence

from recorder.explain.signals import is_same
from recorder.explain.tracks.interventions import Intervention

__all__ = ["root_of"]


def root_of(one: Intervention, acted: Sequence[Intervention]) -> Intervention:
    """Return the intervention at the beginning of the orders.

    Args:
        one: whose author carried something out.
        acted: all, in the order of their first acts.
    """
    for other in acted:
        if other is one:
            break
        if any(is_same(owner, one.author) for owner in other.asked):
            return root_of(other, acted)
    return one
