"""New entries as they come, for `recorder log --follow`."""

from typing import TYPE_CHECKING

from recorder.cli.output import note
from recorder.cli.printing import Printer

if TYPE_CHECKING:
    from recorder.answers.entries import Entries
    from recorder.store.read_follow import Bell
    from recorder.wiring.reading import OpenedLog


async def follow(
    reading: "OpenedLog", answer: "Entries", printer: Printer, bell: "Bell"
) -> None:
    """Print what comes after a reading, until interrupted.

    Every position is read once, in order, with or without a ring of the bell.
    A database that is away is waited for.
    """
    from recorder.answers.references import find_again
    from recorder.model.errors import Transient

    seen = reading.log.size
    away = False
    while True:
        await bell.wait()
        try:
            later = await reading.again()
            if later.log.size == seen:
                continue
            found = await find_again(later, answer.found)
            async for page in answer.later(later, found, after=seen):
                printer.page(page)
                seen = page[-1].entry.position
            seen = later.log.size
        except Transient as exc:
            if not away:
                note(f"{exc}; waiting for it", colour="yellow")
            away = True
        else:
            away = False
