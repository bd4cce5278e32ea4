"""What a verdict has to know of the other nodes: of most chains nothing.

So that who judges reads no more of the fleet than causes and rivals ask it.
"""

from datetime import datetime

from recorder.explain.faults import seen_lost
from recorder.explain.signals import Topic
from recorder.explain.tracks.episodes import Episode
from recorder.explain.tracks.fleet import Fleet
from recorder.explain.tracks.transition import Transition
from recorder.explain.tracks.transitions import happening
from recorder.model.outcomes import Happened

__all__ = [
    "emptied_beside",
    "lost_together",
    "needs_every_place",
    "sees_others",
    "stayed_beside",
]


def sees_others(chain: Episode) -> bool:
    """Return whether a verdict depends on what other nodes did.

    Only where one was lost it is asked who was lost with it.
    """
    found = happening(chain)
    return found is not None and found[0] in {
        Happened.REBOOT,
        Happened.UNREACHABLE,
    }


def lost_together(chain: Episode, fleet: Fleet) -> set[str]:
    """Name the nodes that were lost together with one, itself too."""
    found = happening(chain)
    if found is None:
        return {chain.node}
    transition = Transition(chain, *found, fleet)
    return {
        chain.node,
        *fleet.lost_with(chain.node, seen_lost(transition)),
        *fleet.silent_with(transition.lost_at),
    }


def needs_every_place(chain: Episode, fleet: Fleet) -> bool:
    """Return whether it depends on where all nodes stand.

    Of one that booted it does where another of its place was lost with it.

    Args:
        chain: of which a verdict sees others.
        fleet: with the places of those that were lost together.
    """
    found = happening(chain)
    if found is None or found[0] != Happened.REBOOT:
        return True
    return any(
        fleet.stands(other, key, value)
        for other in lost_together(chain, fleet) - {chain.node}
        for key, value in fleet.place(chain.node).items()
    )


def stayed_beside(chain: Episode, fleet: Fleet) -> tuple[datetime, set[str]]:
    """Name the nodes of the place of one that were not lost with it.

    And return when it was lost: of those that were down by then the power can
    have gone as well. Of a place of which most stayed there are none.
    """
    found = happening(chain)
    assert found is not None, "it sees others"
    lost = lost_together(chain, fleet)
    stayed: set[str] = set()
    for key, value in fleet.place(chain.node).items():
        there = set(fleet.standing(key, value))
        if len(there & lost) > max(1, len(there - lost)):
            stayed |= there - lost
    transition = Transition(chain, *found, fleet)
    return transition.lost_at, stayed


def emptied_beside(chain: Episode, fleet: Fleet) -> tuple[datetime, set[str]]:
    """Name the nodes of the place of one that were lost with it.

    And return when it was lost: whether they were cordoned by then counts
    where somebody emptied that one. Of one that nobody did there are none.
    """
    found = happening(chain)
    assert found is not None, "it sees others"
    transition = Transition(chain, *found, fleet)
    went: set[str] = set()
    if transition.first(Topic.EVICTION) is not None:
        lost = lost_together(chain, fleet) - {chain.node}
        for key, value in fleet.place(chain.node).items():
            went |= {name for name in lost if fleet.stands(name, key, value)}
    return transition.lost_at, went
