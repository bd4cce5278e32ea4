"""The results of the corpus as a table."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from recorder.answers.text.lines import Columns
from tests.corpus.asking import Answers
from tests.corpus.judging import Judged, Mark

__all__ = ["RIGHT_MIN", "lines", "passes", "share_right"]

RIGHT_MIN = 0.95
"""Of all answers, how many have to be right in every field."""

TITLES = ("INCIDENT", "ANSWERS", "RIGHT", "UNKNOWN", "WRONG", "SURE AND WRONG")


def lines(found: Sequence[Answers]) -> Iterator[str]:
    """Yield a line an incident, what is not right, and the sums."""
    rows = [_row(one.name, one.judged) for one in found]
    every = [judged for one in found for judged in one.judged]
    naive = [judged for one in found for judged in one.baseline]
    fields = sum(judged.fields for judged in every)
    missed = sum(len(judged.misses) for judged in every)
    rows.append(_row("all", every))
    rows.append(_row("the last warning, reboots only", naive))
    columns = Columns(TITLES)
    yield columns.header(rows)
    yield from columns.lines(rows)
    yield ""
    for one in found:
        for judged in one.judged:
            for mark, text in judged.misses:
                word = mark.name.lower().replace("_", " ")
                yield f"{one.name}: {judged.about}: {word}: {text}"
    yield f"{share_right(every):.1%} of answers are right in every field"
    yield f"{1 - missed / max(fields, 1):.1%} of {fields} fields are right"


def _row(name: str, judged: Iterable[Judged]) -> tuple[str, ...]:
    counted = Counter(one.mark for one in judged)
    return (
        name,
        str(counted.total()),
        *(str(counted[mark]) for mark in Mark),
    )


def share_right(judged: Sequence[Judged]) -> float:
    """Return the share of answers that are right in every field."""
    right = sum(one.mark is Mark.RIGHT for one in judged)
    return right / max(len(judged), 1)


def passes(found: Sequence[Answers]) -> bool:
    """Return whether nothing was wrong and sure, and enough was right."""
    every = [judged for one in found for judged in one.judged]
    return share_right(every) >= RIGHT_MIN and all(
        judged.mark is not Mark.SURE_AND_WRONG for judged in every
    )
