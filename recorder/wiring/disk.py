"""The room left on the disk of the data folder."""

import shutil
from collections.abc import Callable

from recorder.settings import Settings

__all__ = ["disk_guard"]

PERCENT = 100


def disk_guard(settings: Settings) -> Callable[[], str | None]:
    """Return a check that says why nothing may be written, or None.

    A server of somebody else's keeps its own disk; then nothing is checked.
    """
    if settings.database_url is not None:
        return lambda: None
    folder, least = settings.data_dir, settings.disk_free_min

    def check() -> str | None:
        usage = shutil.disk_usage(folder)
        free = usage.free / usage.total * PERCENT
        if free >= least:
            return None
        return (
            f'the disk of "{folder}" has {free:.0f} % free, the minimum is'
            f" {least:g} %; free some space, recording resumes by itself"
        )

    return check
