"""What is known by half: that something was repaired, and not what broke."""

from recorder.explain.signals import Topic
from recorder.explain.tracks.transition import Transition
from recorder.explain.verdict import Judged
from recorder.model.outcomes import Decision

__all__ = ["is_half"]


def is_half(transition: Transition, verdict: Judged) -> bool:
    """Whether something was repaired of which nobody said that it broke.

    Who did it is known then, and why is not.
    """
    decided, remedy = verdict.decision, Decision.AUTO_REMEDIATION
    if decided is None or verdict.fault is not None:
        return False
    if decided.decision is not remedy and all(
        sign.decision is not remedy for sign in transition.decisions
    ):
        return False
    # By our own clock: a lease tells the time as its node has it. What a list
    # shows says itself when it was made.
    asked = decided.sign.stored
    since = min(asked.observed_at, asked.at)
    unready = transition.episode.baseline.ready not in {None, "True"} or any(
        sign.topic in {Topic.READY, Topic.SILENCE}
        and sign.stored.observed_at <= since
        for sign in transition.episode.signals
    )
    return not unready
