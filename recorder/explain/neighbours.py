"""What a verdict needs to know about other nodes: for most episodes nothing.

Callers load no more of the fleet than causes and rivals use.
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

    Only if the node was lost, or one of its ports, it matters which nodes
    were lost with it.
    """
    found = happening(chain)
    if found is None:
        return False
    # What befell one port may have befallen the switch.
    at_port = found[0] is Happened.DEGRADED and found[1].place is not None
    return at_port or found[0] in {Happened.REBOOT, Happened.UNREACHABLE}


def lost_together(chain: Episode, fleet: Fleet) -> set[str]:
    """Return the nodes that were lost together with one, including it."""
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
    """Return whether a verdict depends on the places of all nodes.

    For a reboot it does if another node of the same place was lost with it, or
    what the node is behind was claimed to be broken.

    Args:
        chain: an episode whose verdict depends on other nodes.
        fleet: has the places of the nodes that were lost together.
    """
    found = happening(chain)
    if found is None or found[0] != Happened.REBOOT:
        return True
    if fleet.faults_above(chain.node):
        return True
    places = fleet.place(chain.node).items()
    if not places:
        return False
    others = lost_together(chain, fleet) - {chain.node}
    return any(
        not others.isdisjoint(fleet.nodes_at(key, value))
        for key, value in places
    )


def stayed_beside(chain: Episode, fleet: Fleet) -> tuple[datetime, set[str]]:
    """Return when a node was lost, and which nodes of its place stayed up.

    A node that was down by then may have lost power as well. Places where
    most nodes stayed up are left out.
    """
    found = happening(chain)
    assert found is not None, "it sees others"
    lost = lost_together(chain, fleet)
    stayed: set[str] = set()
    for key, value in fleet.place(chain.node).items():
        there = set(fleet.nodes_at(key, value))
        if len(there & lost) > max(1, len(there - lost)):
            stayed |= there - lost
    transition = Transition(chain, *found, fleet)
    return transition.lost_at, stayed


def emptied_beside(chain: Episode, fleet: Fleet) -> tuple[datetime, set[str]]:
    """Return when a node was lost, and which nodes of its place were lost too.

    Whether those were cordoned by then matters only if Pods were evicted
    from the node; else there are none.
    """
    found = happening(chain)
    assert found is not None, "it sees others"
    transition = Transition(chain, *found, fleet)
    went: set[str] = set()
    if transition.first(Topic.EVICTION) is not None:
        lost = lost_together(chain, fleet) - {chain.node}
        for key, value in fleet.place(chain.node).items():
            went |= {name for name in lost if fleet.is_at(name, key, value)}
    return transition.lost_at, went
