"""What a verdict needs to know about other nodes: for most episodes nothing.

Callers load no more of the fleet than causes and rivals use.
"""

from datetime import datetime

from recorder.explain.breadth import breadth_of, together
from recorder.explain.signals import Topic
from recorder.explain.tracks.episodes import Episode
from recorder.explain.tracks.fleet import Fleet
from recorder.explain.tracks.transition import Transition
from recorder.explain.tracks.transitions import happening
from recorder.model.outcomes import Fault, Happened
from recorder.model.place import Place

__all__ = [
    "beside",
    "lost_together",
    "needs_every_place",
    "sees_others",
    "shared_places",
]


def sees_others(chain: Episode) -> bool:
    """Return whether a verdict depends on what other nodes did.

    Only if the node was lost, or one of its links, it matters which nodes
    were lost with it.
    """
    found = happening(chain)
    if found is None:
        return False
    # What befell one port may have befallen the switch.
    at_port = found[0] is Happened.DEGRADED and found[1].fault is Fault.LINK
    return at_port or found[0] in {Happened.REBOOT, Happened.UNREACHABLE}


def _seen(chain: Episode, fleet: Fleet) -> Transition:
    found = happening(chain)
    assert found is not None, "it sees others"
    return Transition(chain, *found, fleet)


def lost_together(chain: Episode, fleet: Fleet) -> frozenset[str]:
    """Return the nodes that were lost together with one, including it."""
    return together(_seen(chain, fleet))


def shared_places(chain: Episode, fleet: Fleet) -> list[Place]:
    """Return the places of a node at which others were lost with it."""
    transition = _seen(chain, fleet)
    at, lost = transition.lost_at, together(transition)
    return [
        place
        for place in fleet.places(chain.node, at)
        if len(fleet.nodes_behind(place, at) & lost) > 1
    ]


def needs_every_place(chain: Episode, fleet: Fleet) -> bool:
    """Return whether a verdict depends on the places of all nodes.

    For a reboot it does if another node of the same place was lost with it, or
    what the node is behind was claimed to be broken.

    Args:
        chain: an episode whose verdict depends on other nodes.
        fleet: has the places of the nodes that were lost together.
    """
    return _seen(chain, fleet).happened != Happened.REBOOT or bool(
        fleet.faults_above(chain.node) or shared_places(chain, fleet)
    )


def beside(chain: Episode, fleet: Fleet) -> tuple[datetime, set[str]]:
    """Return when a node was lost, and which other nodes to read.

    Those that stayed up at a place where most were lost may have been down
    before. Whether those that were lost too had been cordoned matters only if
    Pods were evicted from the node.
    """
    transition = _seen(chain, fleet)
    names: set[str] = set()
    for place in fleet.places(chain.node, transition.lost_at):
        found = breadth_of(transition, place)
        stayed = found.well | found.down
        if len(found.agree) > max(1, len(stayed)):
            names |= stayed
        if transition.first(Topic.EVICTION) is not None:
            names |= found.agree
    return transition.lost_at, names - {chain.node}
