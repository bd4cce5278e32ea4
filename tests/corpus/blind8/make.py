"""Writes the eighth set: ``python -m tests.corpus.blind8.make``."""

from pathlib import Path

from tests.corpus.blind8 import alone, gangs
from tests.corpus.blind8.fleet import Fleet
from tests.corpus.blind8.truths import TRUTHS
from tests.corpus.writing.files import write_all

STORIES = {f.__name__: f for f in (*gangs.STORIES, *alone.STORIES)}


def main() -> None:
    """Write every tape and its truth."""
    write_all(Path(__file__).parent, TRUTHS.values(), Fleet, STORIES)


if __name__ == "__main__":
    main()
