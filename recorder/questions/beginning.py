"""What a question without a beginning asks of the archive.

It asks for what is kept outside of it. What it found there may have begun in
days that were dropped: of these only evidence stays, and neither what was hit
nor what it cost.
"""

from collections.abc import Iterable

from recorder.explain.verdict import Verdict
from recorder.model.window import Window
from recorder.questions.ports import Reading

__all__ = ["reach_begun"]


async def reach_begun(
    reading: Reading, window: Window, verdicts: Iterable[Verdict]
) -> bool:
    """Open the days in which began what was found, if they were dropped.

    Return whether there are any: then the question is to be asked again.
    """
    kept = reading.log.kept_since
    if window.since is not None or kept is None:
        return False
    begun = min((verdict.began_at for verdict in verdicts), default=kept)
    if begun >= kept:
        return False
    await reading.reach(begun, window.until)
    return True
