"""The sources of a recording, in parallel, until one of them ends it.

A stop, a source that fails, or the end of the last finite source ends it for
all. What each of them had put by then is still committed.
"""

import asyncio
from collections.abc import Callable, Mapping

from recorder.intake.ports import Known, Sink, Source
from recorder.model.errors import RecorderError


class SourceEndedError(RecorderError):
    """A source that should observe until cancelled has ended."""

    code = "source.ended"


async def observe(
    sources: Mapping[str, Source],
    sink: Sink,
    known: Callable[[str], Known],
    stop: asyncio.Event,
) -> RecorderError | None:
    """Run the sources; return the first failure.

    Args:
        sources: by the name under which their streams are in the log.
        sink: takes what all of them observe.
        known: returns what a source may query, by its name.
        stop: set when a stop is requested.
    """
    assert sources, "something is observed"
    failures: list[RecorderError] = []
    ending = {name for name, source in sources.items() if source.finite}
    settled = asyncio.Event()

    async def run(name: str, source: Source) -> None:
        try:
            await source.run(sink, known(name))
        except RecorderError as exc:
            failures.append(exc)
            settled.set()
            return
        ending.discard(name)
        if not source.finite and not (settled.is_set() or stop.is_set()):
            msg = f"the source {name} ended unexpectedly; restart it"
            failures.append(SourceEndedError(msg))
            settled.set()
        elif not ending:
            settled.set()

    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(run(name, source))
            for name, source in sources.items()
        ]
        ends = {
            group.create_task(stop.wait()),
            group.create_task(settled.wait()),
        }
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for task in (*tasks, *ends):
            task.cancel()
    return failures[0] if failures else None
