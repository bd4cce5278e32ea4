"""Ordered by: who carries out what another decided."""

from collections.abc import Sequence

from recorder.explain.signals import RuledActor, is_same
from recorder.explain.tracks.interventions import Intervention

__all__ = ["carrier_of"]


def carrier_of(
    root: Intervention, acted: Sequence[Intervention]
) -> RuledActor | None:
    """Return who carried out an intervention, if its author did not.

    Whose literal or object somebody used was asked by that; it may have
    handed the order on.

    Args:
        root: where the order came from.
        acted: all, in the order of their first acts.
    """
    if not root.asked:
        return None
    asked = root.asked[-1]
    for one in acted:
        if one is not root and is_same(one.author, asked) and one.asked:
            return carrier_of(one, acted)
    return asked
