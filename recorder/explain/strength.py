"""How strongly evidence binds, from the least to the most."""

__all__ = ["STRENGTHS", "rank", "weaker"]

STRENGTHS = ("unknown", "possible", "likely", "proven")


def rank(strength: str) -> int:
    """Return how much a strength is, from 0."""
    return STRENGTHS.index(strength)


def weaker(*strengths: str) -> str:
    """Return the least of some strengths."""
    return min(strengths, key=rank)
