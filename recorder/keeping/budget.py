"""The disk and the size budget of a database, as the settings state them.

The policy of retention is made here too, with its budget. Above the budget
the oldest days are dropped before their time. A recorder that has no room
stops before the database outgrows the budget by more than a tenth.
"""

import shutil
from collections.abc import Callable
from typing import Literal

from recorder.keeping.retention.policy import Policy, PolicyError, read_policy
from recorder.model.settings import Settings

AUTO, NONE = "auto", "none"
UNITS = {"MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
MARGIN_PERCENT = 5.0
"""Percent of the disk that stay free beyond what recording needs."""
PERCENT = 100
GIGABYTE = 1 << 30

Stage = Literal["within", "near", "over", "full"]

NEAR = 0.8
"""Share of the budget above which a line warns."""

STOP = 1.1
"""Share of the budget above which nothing is recorded. Days are dropped whole
and only once they are archived, so the budget itself cannot be the limit."""


def stage_of(size: int, budget: int | None) -> Stage | None:
    """Return how full a budget is at a size, in bytes; None without one."""
    if budget is None:
        return None
    if size >= STOP * budget:
        return "full"
    if size > budget:
        return "over"
    return "near" if size > NEAR * budget else "within"


def budget_of(settings: Settings, database_bytes: int) -> int | None:
    """Return the size that the database may have; None for any.

    Raises:
        PolicyError: the setting has another form.
    """
    text = settings.retention_budget.strip()
    if text == NONE:
        return None
    if text == AUTO:
        if settings.database_url is not None:
            return None
        disk = shutil.disk_usage(settings.data_dir)
        kept = (settings.disk_free_min + MARGIN_PERCENT) / 100
        room = disk.free - int(disk.total * kept)
        return max(database_bytes + room, 0)
    number, unit = text[:-2].strip(), text[-2:].upper()
    if unit not in UNITS or not number.isascii() or not number.isdecimal():
        msg = (
            f'retention_budget is "{text}": write 200GB, none, or auto (units'
            " are MB, GB and TB)"
        )
        raise PolicyError(msg)
    return int(number) * UNITS[unit]


def is_fixed(settings: Settings) -> bool:
    """Whether the size budget is a number, whatever the disk has free."""
    return settings.retention_budget.strip() not in {AUTO, NONE}


def policy_of(settings: Settings) -> Policy:
    """Return the policy of the settings, its budget as far as it is fixed.

    Raises:
        PolicyError: it contradicts itself.
    """
    return read_policy(
        hot=settings.retention_hot,
        place=settings.retention_archive or str(settings.data_dir / "archive"),
        unarchived=settings.retention_unarchived,
        budget=budget_of(settings, 0) if is_fixed(settings) else None,
    )


def room_guard(
    settings: Settings, size: Callable[[], int | None] = lambda: None
) -> Callable[[], str | None]:
    """Return a check that returns why nothing may be written, or None.

    The disk of a server that is not the embedded one is not checked.
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
