"""A process ends without a word that is not its own."""

import subprocess
import sys

ENDING = """
import recorder.archive.tables
from recorder.keeping.collector import calm_collector
calm_collector()
"""


def test_nothing_is_reported_as_leaked() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDING],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout + done.stderr == ""
