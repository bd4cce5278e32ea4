"""The network was cut: the node is silent, then as it was before."""

from typing import Final

from recorder.explain.causes.cause import CONCLUDED, FaultCause, Found
from recorder.explain.signals import Subject, Topic
from recorder.explain.tracks.boots import counted
from recorder.explain.tracks.transition import Transition
from recorder.model.outcomes import Confidence, Fault, Happened

__all__ = ["CAUSE"]

STOPPED: Final = Subject(
    Topic.TAINT, "node.cloudprovider.kubernetes.io/shutdown"
)


def _find(transition: Transition) -> Found | None:
    if transition.happened != Happened.UNREACHABLE or transition.faults:
        return None
    if transition.decisions:
        # What was announced needs no other explanation.
        return None
    if any(
        s.subject == STOPPED and not s.over for s in transition.episode.signals
    ):
        # By the cloud, the machine did not run: no network was cut.
        return None
    if (
        not transition.episode.state.present
        or transition.episode.state.ready != "True"
    ):
        # It has not come back: nobody knows what will have happened.
        return None
    if not counted(
        transition.episode.of(Topic.WORD), transition.effect.stored.at
    ):
        # That no start is on record is no proof that there was none.
        return Found(transition.effect, Confidence.POSSIBLE)
    return Found(
        transition.effect,
        Confidence.POSSIBLE if _is_wide(transition) else Confidence.LIKELY,
    )


def _is_wide(transition: Transition) -> bool:
    """Return whether half of the nodes went at once, and not those of a place.

    Then it may have been the control plane, of which not all is on record.
    """
    seen = transition.effect.stored.at
    lost = set(transition.fleet.lost_with(transition.episode.node, seen))
    if len(lost) == 1 or 2 * len(lost) < transition.fleet.size:
        return False
    return not any(
        len(lost) == len(transition.fleet.standing(key, value))
        and all(transition.fleet.stands(node, key, value) for node in lost)
        for key, value in transition.fleet.place(
            transition.episode.node
        ).items()
    )


CAUSE = FaultCause(
    fault=Fault.PARTITION,
    signature=(
        "Ready turns Unknown and True again; the boot ID is the same, and no"
        " kubelet started"
    ),
    lookalikes=(
        "kubelet-failure: a kubelet starts at the end",
        "control-plane-outage: all nodes at once",
        "a machine that hung and recovered, which no record distinguishes",
    ),
    weight=CONCLUDED,
    find=_find,
)
