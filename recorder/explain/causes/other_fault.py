"""Something else that somebody calls a fault."""

from recorder.explain.causes.cause import FaultCause, Found, recorded
from recorder.explain.links.because import is_answered
from recorder.explain.strength import rank
from recorder.explain.tracks.transition import Transition
from recorder.model.outcomes import Confidence, Fault

__all__ = ["CAUSE"]

LIKELY = Confidence.LIKELY


def _find(transition: Transition) -> Found | None:
    found = recorded(Fault.OTHER)(transition)
    if found is not None and found.sign.vague:
        # Nobody named it; somebody held the node for as long as it lasted.
        return Found(found.sign, min(found.confidence, LIKELY, key=rank))
    if (
        found is None
        or not transition.was_lost
        or is_answered(transition, found.sign)
    ):
        return found
    # Nothing says that what is wrong there can take a machine away.
    return Found(found.sign, Confidence.POSSIBLE)


CAUSE = FaultCause(
    fault=Fault.OTHER,
    signature="a condition that a rule knows as a fault of none of these"
    " classes; or one that no rule knows, and that whoever acted on the node"
    " names as the reason, or held the node for as long as it lasted",
    lookalikes=("conditions without a rule that nobody names: no fault",),
    find=_find,
)
