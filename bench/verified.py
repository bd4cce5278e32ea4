"""One process that verifies one log, and prints its cost.

``python -m bench.verified DSN`` prints one line of JSON.
"""

import asyncio
import json
import resource
import sys
import time

from recorder.integrity.verified import Verified
from recorder.keeping.verifying import Proving, Verifying
from recorder.keeping.verifying_database import verify
from recorder.store.engine import make_engine
from recorder.store.read_logs import read_logs

__all__: list[str] = []

ENTRIES_ALONE = Verifying(facts=Proving(mode="none"))
"""The logs that are measured have no facts."""


async def _verified(dsn: str) -> Verified:
    engine = make_engine(dsn)
    (log,) = await read_logs(engine)
    await engine.dispose()
    found = await verify(dsn, log, ENTRIES_ALONE, asyncio.Event())
    assert found.ok, found.problems
    return found


def main() -> None:
    began = time.perf_counter()
    found = asyncio.run(_verified(sys.argv[1]))
    taken = {
        "entries": found.checked_entries,
        "seconds": time.perf_counter() - began,
        "worker": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,
        "leader": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
    print(json.dumps(taken))


if __name__ == "__main__":
    main()
