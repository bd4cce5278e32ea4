"""Whether there is room to write: on the disk, and in the size budget."""

import shutil
from collections.abc import Callable

from recorder.retention.thresholds import STOP, stage_of
from recorder.settings import Settings
from recorder.wiring.policy import budget_of, is_fixed

__all__ = ["room_guard"]

PERCENT = 100
GIGABYTE = 1 << 30


def room_guard(
    settings: Settings, size: Callable[[], int | None] = lambda: None
) -> Callable[[], str | None]:
    """Return a check that says why nothing may be written, or None.

    A server of somebody else's keeps its own disk, which is not checked.
    ``size`` returns the bytes of the database, None where they are not known;
    they are compared with a budget that is a number.
    """

    def check() -> str | None:
        return _disk_is_full(settings) or _budget_is_full(settings, size())

    return check


def _disk_is_full(settings: Settings) -> str | None:
    if settings.database_url is not None:
        return None
    folder, least = settings.data_dir, settings.disk_free_min
    usage = shutil.disk_usage(folder)
    free = usage.free / usage.total * PERCENT
    if free >= least:
        return None
    return (
        f'the disk of "{folder}" has {free:.0f} % free, the minimum is'
        f" {least:g} %; free some space, recording resumes by itself"
    )


def _budget_is_full(settings: Settings, size: int | None) -> str | None:
    if size is None or not is_fixed(settings):
        return None
    if stage_of(size, budget_of(settings, size)) != "full":
        return None
    return (
        f"the database has {size / GIGABYTE:.1f} GB, and nothing is written"
        f" above {STOP:.0%} of retention_budget, {settings.retention_budget};"
        " `recorder prune` says what keeps days from being dropped, recording"
        " resumes by itself"
    )
