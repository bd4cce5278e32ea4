"""Names near one that was not found, for a message that helps."""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean"]

NEAR_MAX = 3


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that names what is near, or nothing."""
    near = get_close_matches(name, known, n=NEAR_MAX, cutoff=0.6)
    if not near:
        return ""
    quoted = [f'"{one}"' for one in near]
    return f"; did you mean {' or '.join(quoted)}?"
