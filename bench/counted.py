"""The recorder, in a process that also reports how many tasks it has.

``python -m bench.counted FILE record`` is ``recorder record``; a thread writes
the number of asyncio's unfinished tasks into the file, once a second. Nothing
else of the process is different.
"""

import asyncio
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from recorder.cli.main import run

__all__: list[str] = []


def _count(file: Path) -> None:
    while True:
        # The set may change during the count; then the next second shows it.
        with suppress(RuntimeError):
            tasks = [
                task
                for task in asyncio.tasks._all_tasks  # type: ignore[attr-defined]
                if not task.done()
            ]
            file.write_text(str(len(tasks)))
        time.sleep(1)


if __name__ == "__main__":
    counting = threading.Thread(
        target=_count, args=(Path(sys.argv.pop(1)),), daemon=True
    )
    counting.start()
    run()
