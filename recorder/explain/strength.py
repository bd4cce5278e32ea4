"""How strongly evidence binds, from the least to the most."""

from recorder.model.outcomes import Confidence

__all__ = ["STRENGTHS", "rank", "weaker"]

STRENGTHS = (
    Confidence.UNKNOWN,
    Confidence.POSSIBLE,
    Confidence.LIKELY,
    Confidence.PROVEN,
)


def rank(strength: Confidence) -> int:
    """Return how much a strength is, from 0."""
    return STRENGTHS.index(strength)


def weaker(*strengths: Confidence) -> Confidence:
    """Return the least of some strengths."""
    return min(strengths, key=rank)
