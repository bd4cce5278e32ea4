"""The log of PostgreSQL and its supervisor: one file, and the previous one.

Both append to it through an inherited file descriptor, so it cannot be
renamed: when it is large it is copied and truncated. A line written in between
is lost; it is a diagnostic log, not the recorded one.
"""

import os
import shutil
from contextlib import suppress

from recorder.embedded.folder import DataFolder

_BYTES_MAX = 16 * 1024 * 1024
"""The two files take twice this; a quiet server writes 200 KB a day."""


def open_log(folder: DataFolder) -> int:
    """Open it for appending, owned by the data folder's owner."""
    log = os.open(
        folder.log,
        os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW,
        0o600,
    )
    if os.geteuid() == 0:
        owner = folder.path.stat()
        os.fchown(log, owner.st_uid, owner.st_gid)
    return log


def bound_log(folder: DataFolder) -> None:
    """Truncate it if it is large, keeping a copy."""
    log = folder.log
    with suppress(OSError):
        if log.stat().st_size > _BYTES_MAX:
            fresh = log.with_name(f"{log.name}.new")
            shutil.copyfile(log, fresh)
            fresh.replace(log.with_name(f"{log.name}.1"))
            os.truncate(log, 0)
