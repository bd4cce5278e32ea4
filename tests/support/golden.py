"""Golden files: what was said once, word for word."""

import os
from pathlib import Path

__all__ = ["ANEW", "kept"]

UPDATE = "RECORDER_TEST_UPDATE_GOLDEN"
ANEW = f"if it should: run again with {UPDATE}=1, and look at what changed"


def kept(path: Path, text: str) -> str:
    """Return what a file holds; if that is asked, the text from now on."""
    if os.environ.get(UPDATE):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return path.read_text() if path.exists() else ""
