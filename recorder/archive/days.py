"""Which logs and days an archive holds."""

from collections.abc import Sequence
from datetime import date

from recorder.archive.errors import ArchiveError
from recorder.archive.manifest import LogFile
from recorder.archive.place import Place

LOG = "log.json"


def logs_of(place: Place) -> Sequence[LogFile]:
    """Return the logs that an archive holds.

    Raises:
        ArchiveError: it holds none, or days of a log that nothing names.
        PlaceError: it cannot be read.
    """
    found = []
    for folder in place.folders():
        content = place.read(f"{folder}/{LOG}")
        if content is not None:
            name = f"{place.uri}/{folder}/{LOG}"
            log = LogFile.parse(content, name)
            if (log.uid, log.origin) != (folder, f"kube-recorder/{folder}"):
                msg = f'"{name}" is of {log.origin}, and not of {folder}'
                raise ArchiveError(msg)
            found.append(log)
        elif archived_days(place, folder):
            msg = f'"{place.uri}/{folder}" has no {LOG}: restore it'
            raise ArchiveError(msg)
    if not found:
        msg = (
            f'"{place.uri}" is no archive: no folder in it holds a {LOG};'
            " name the folder that `recorder archive` writes to"
        )
        raise ArchiveError(msg)
    return found


def archived_days(place: Place, uid: str) -> Sequence[str]:
    """Return the folders of the days of a log, oldest first."""
    return [f"{uid}/{name}" for name in place.folders(uid) if _is_day(name)]


def _is_day(name: str) -> bool:
    try:
        return date.fromisoformat(name).isoformat() == name
    except ValueError:
        return False
