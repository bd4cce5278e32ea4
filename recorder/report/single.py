"""One entry by its name, with its document."""

from recorder.errors import ConfigError, NotFoundError
from recorder.model.reference import EntryName
from recorder.report.ports import Line, Reading, Selection

__all__ = ["EntryNameError", "NoEntryError", "ask_entry", "entry_name"]


class EntryNameError(ConfigError):
    """A text that is no name of an entry."""

    code = "question.entry"


class NoEntryError(NotFoundError):
    """The log has no such entry."""

    code = "not_found.entry"


def entry_name(text: str) -> EntryName:
    """Read the name of an entry.

    Raises:
        EntryNameError: it is none.
    """
    try:
        return EntryName.parse(text)
    except ValueError as exc:
        raise EntryNameError(str(exc)) from exc


async def ask_entry(reading: Reading, name: EntryName) -> Line:
    """Read one entry.

    Raises:
        NotFoundError: it is of another log, or not in this one.
    """
    log = reading.log
    if name.log == log.id and 0 < name.position <= log.size:
        pages = reading.as_of(name.position).lines(
            Selection(), after=name.position - 1, documents=True
        )
        async for page in pages:
            if page[0].entry == name:
                return page[0]
    msg = (
        f"there is no entry {name}: log {log.id} has the positions 1 to"
        f" {log.size}, or it was pruned"
    )
    raise NoEntryError(msg)
