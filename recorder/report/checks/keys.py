"""Whether the redaction key can be used, and is the log's."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from recorder.report.checks.check import Check

__all__ = ["KeyFacts", "judge_key_file", "judge_key_of_log"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFacts:
    """The file of the key."""

    path: Path
    is_named: bool
    """Whether a setting names it; otherwise it is made on first use."""

    exists: bool
    others_may_read: bool = False
    trouble: str | None = None
    """Why it cannot be used, in words."""

    id: str | None = None
    """What the log knows a key by."""


def judge_key_file(
    name: str, facts: KeyFacts, used: Collection[str] | None
) -> Check:
    """Judge the file.

    Args:
        name: of the check.
        facts: what was found.
        used: ids of keys that the log was redacted with, as far as known.
    """
    path = facts.path
    restore = f'restore "{path}" from its backup, mode 600'
    if not facts.exists:
        may_be_made = not facts.is_named and not used
        return Check(
            name=name,
            ok=may_be_made,
            says=f'none yet; "{path}" will be made'
            if may_be_made
            else f'there is no "{path}"',
            remedy=f"{restore}: the log was redacted with it, and another"
            " key refuses to start"
            if used
            else f"{restore}; for a new log make one: openssl rand -hex 32",
        )
    if facts.trouble is not None:
        return Check(
            name=name,
            ok=False,
            says=facts.trouble,
            remedy=f"run: chmod 600 {path}"
            if facts.others_may_read
            else f"{restore}; it belongs to the user who records, and holds"
            " 64 hexadecimal digits or more",
        )
    return Check(name=name, ok=True, says=f'"{path}" has id {facts.id}')


def judge_key_of_log(name: str, key: str, used: Collection[str]) -> Check:
    """Judge whether a key is one that the log was redacted with."""
    says = "nothing was redacted yet"
    if used:
        says = f"the log was redacted with key {', '.join(sorted(used))}"
    return Check(
        name=name,
        ok=not used or key in used,
        says=says if not used or key in used else f"{says}, not with {key}",
        remedy="restore that key, or name its file with"
        " RECORDER_REDACTION_KEY_FILE",
    )
