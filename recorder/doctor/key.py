"""The redaction key: whether it can be used, and belongs to the log."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from recorder.doctor.check import Check, untried
from recorder.model.errors import ConfigError
from recorder.model.settings import Settings

FILE, OF_LOG = "redaction key", "redaction key of the log"

OPEN_TO_OTHERS = "key.open"
"""The code of the error that other users may read the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFacts:
    """The file of the key."""

    path: Path
    is_named: bool
    """Whether a setting names it; otherwise it is created on first use."""

    exists: bool
    others_may_read: bool = False
    trouble: str | None = None
    """Why it cannot be used, as text."""

    id: str | None = None
    """The id of the key in the log."""


def look_at_key(
    settings: Settings,
    read_id: Callable[[], str],
    used: Collection[str] | None,
) -> Sequence[Check]:
    """Check the key.

    Args:
        settings: where it is.
        read_id: returns its id, or raises why it cannot be used.
        used: ids of keys that the log was redacted with; None if the log could
            not be queried.
    """
    facts = _read(settings, read_id)
    file = judge_key_file(FILE, facts, used)
    if used is None:
        return [file, untried(OF_LOG, "database")]
    if not file.ok:
        return [file, untried(OF_LOG, FILE)]
    if facts.id is None:
        return [file]
    return [file, judge_key_of_log(OF_LOG, facts.id, used)]


def _read(settings: Settings, read_id: Callable[[], str]) -> KeyFacts:
    named = settings.redaction_key_file
    path = named or settings.data_dir / "redaction.key"
    is_named = named is not None
    try:
        exists = path.exists()
    except OSError:
        exists = True  # In an inaccessible folder; reading it raises an error.
    if not exists:
        return KeyFacts(path=path, is_named=is_named, exists=False)
    try:
        found = read_id()
    except ConfigError as exc:
        return KeyFacts(
            path=path,
            is_named=is_named,
            exists=True,
            others_may_read=exc.code == OPEN_TO_OTHERS,
            trouble=str(exc),
        )
    return KeyFacts(path=path, is_named=is_named, exists=True, id=found)


def judge_key_file(
    name: str, facts: KeyFacts, used: Collection[str] | None
) -> Check:
    """Judge the file."""
    path = facts.path
    restore = f'restore "{path}" from its backup, mode 600'
    if not facts.exists:
        may_be_made = not facts.is_named and not used
        return Check(
            name=name,
            ok=may_be_made,
            says=f'none yet; "{path}" will be created'
            if may_be_made
            else f'there is no "{path}"',
            remedy=f"{restore}: the log was redacted with it, and a recorder"
            " with another key refuses to start"
            if used
            else f"{restore}; for a new log create one: openssl rand -hex 32",
        )
    if facts.trouble is not None:
        return Check(
            name=name,
            ok=False,
            says=facts.trouble,
            remedy=f"run: chmod 600 {path}"
            if facts.others_may_read
            else f"{restore}; it must belong to the user who records, and hold"
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
