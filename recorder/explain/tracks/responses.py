"""Responses: what somebody did upon a condition that no rule knows.

Who acts upon a condition names it; or holds the node for exactly as long as
it lasts, which is no chance.
"""

from collections.abc import Iterator

from recorder.explain.signals import Signal, Topic, is_same
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.episode import Episode
from recorder.model.facts import ConditionChanged

__all__ = ["OF_KUBERNETES", "QUOTE_MIN", "answers", "held_for"]

QUOTE_MIN = 8
"""Characters of a literal, so that it is not quoted by chance."""

OF_KUBERNETES = "node.kubernetes.io/"
"""Prefix of the taints that the node controller derives."""

_HOLDING = (Topic.CORDON, Topic.TAINT)
"""Topics of what holds a node until it is undone."""


def answers(act: Signal, mark: Signal) -> bool:
    """Return whether somebody else wrote after a condition what names it."""
    return (
        act.position > mark.position
        and act.subject != mark.subject
        and not is_same(act.actor, mark.actor)
        and _names(act, mark)
    )


def _names(act: Signal, mark: Signal) -> bool:
    """Whether what somebody wrote names a condition, or quotes it."""
    words = [mark.subject.name]
    new = mark.condition
    if new is not None:
        words += [new.reason or "", new.message or ""]
    return any(
        word in act.says for word in words if word and len(word) >= QUOTE_MIN
    )


def held_for(mark: Signal, episode: Episode) -> Iterator[Signal]:
    """Yield what a program held a node by for as long as a condition lasted.

    It came right after the condition turned, and was undone right after the
    condition turned back.
    """
    over = next((m for m in episode.marks if _is_over(m, mark)), None)
    if over is None:
        return
    undone = {
        s.subject for s in episode.signals if s.over and _follows(s, over)
    }
    for topic in _HOLDING:
        for act in episode.of(topic):
            author = act.actor
            if (
                act.subject in undone
                and author is not None
                and author.is_program
                and not is_same(author, mark.actor)
                and not act.subject.name.startswith(OF_KUBERNETES)
                and _follows(act, mark)
            ):
                yield act


def _is_over(later: Signal, mark: Signal) -> bool:
    """Whether a condition turned back to what it was."""
    turned, was = later.stored.fact.detail, mark.stored.fact.detail
    return (
        isinstance(turned, ConditionChanged)
        and isinstance(was, ConditionChanged)
        and later.position > mark.position
        and later.subject == mark.subject
        and turned.new is not None
        and was.old is not None
        and turned.new.status == was.old.status
    )


def _follows(act: Signal, mark: Signal) -> bool:
    """Whether something was done at once upon a mark."""
    return (
        act.position > mark.position
        and act.stored.at - mark.stored.at <= LIMITS.together
    )
