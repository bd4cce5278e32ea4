"""What was passed, and where it was died, as a table."""

from collections import Counter
from collections.abc import Iterable, Iterator

from tests.crash.failpoints import Kill

__all__ = ["table"]


def table(
    passed: Counter[str], planned: Iterable[Kill], died: Iterable[Kill]
) -> Iterator[str]:
    """Yield the lines: one for each place, and the sum."""
    wanted = Counter(kill.place for kill in planned)
    killed = Counter(kill.place for kill in died)
    yield f"{'passed':>8} {'planned':>8} {'killed':>8}  place"
    for place in sorted(passed.keys() | wanted.keys()):
        yield (
            f"{passed[place]:8} {wanted[place]:8} {killed[place]:8}  {place}"
        )
    yield (
        f"{passed.total():8} {wanted.total():8} {killed.total():8}"
        f"  {len(passed)} places, {len(killed)} of them killed at"
    )
