"""The policy of retention that the settings state, and its size budget."""

import shutil

from recorder.retention.policy import Policy, PolicyError, read_policy
from recorder.settings import Settings

__all__ = ["budget_of", "is_fixed", "policy_of"]

AUTO, NONE = "auto", "none"
UNITS = {"MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
MARGIN_PERCENT = 5.0
"""Of the disk, that stay free beyond what recording needs."""


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
