"""Contradictions: records of which one must be wrong.

They are reported without deciding which one is wrong: a verdict that rests
on one of them is at most possible.
"""

from recorder.explain.signals import Signal, Topic
from recorder.explain.tracks.boots import boot_named, is_explained
from recorder.explain.tracks.transition import Transition
from recorder.explain.verdict import Contradiction

__all__ = ["contradictions"]


def contradictions(transition: Transition) -> list[Contradiction]:
    """Return what the log says against itself, in the order of the log."""
    found = []
    for sign in transition.episode.of(Topic.REBOOTED):
        if is_explained(sign, transition.episode.boots):
            continue
        boot = transition.episode.state.boot_id
        named = boot_named(sign)
        but = (
            f"the boot ID of the Node is still {boot}"
            if named is None or named == boot
            else f"no version of the Node has the boot ID {named}"
        )
        found.append(_against(sign, but))
    gone = any(s.topic is Topic.IDENTITY for s in transition.episode.signals)
    for sign in transition.episode.of(Topic.REMOVING)[:1]:
        if not gone:
            but = "no deletion of the Node is recorded"
            found.append(_against(sign, but))
    return found


def _against(sign: Signal, but: str) -> Contradiction:
    return Contradiction(entry=sign.stored.entry, says=sign.says, but=but)
