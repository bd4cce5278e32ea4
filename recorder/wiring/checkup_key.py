"""The redaction key, for `recorder doctor`: its file, and whether it fits."""

from collections.abc import Collection, Sequence

from recorder.admin.redaction_key import (
    KeyFileError,
    OpenToOthersError,
    load_key,
)
from recorder.redact import key_id
from recorder.report.checks import Check, untried
from recorder.report.checks.keys import (
    KeyFacts,
    judge_key_file,
    judge_key_of_log,
)
from recorder.settings import Settings

__all__ = ["look_at_key"]

FILE, OF_LOG = "redaction key", "redaction key of the log"


def look_at_key(
    settings: Settings, used: Collection[str] | None
) -> Sequence[Check]:
    """Look at the key.

    Args:
        settings: where it is.
        used: ids of keys that the log was redacted with; None if the log
            could not be asked.
    """
    facts = _read(settings)
    file = judge_key_file(FILE, facts, used)
    if used is None:
        return [file, untried(OF_LOG, "database")]
    if not file.ok:
        return [file, untried(OF_LOG, FILE)]
    if facts.id is None:
        return [file]
    return [file, judge_key_of_log(OF_LOG, facts.id, used)]


def _read(settings: Settings) -> KeyFacts:
    named = settings.redaction_key_file
    path = named or settings.data_dir / "redaction.key"
    is_named = named is not None
    try:
        exists = path.exists()
    except OSError:
        exists = True  # In a folder that is closed to us; reading says so.
    if not exists:
        return KeyFacts(path=path, is_named=is_named, exists=False)
    try:
        found = key_id(load_key(settings))
    except KeyFileError as exc:
        return KeyFacts(
            path=path,
            is_named=is_named,
            exists=True,
            others_may_read=isinstance(exc, OpenToOthersError),
            trouble=str(exc),
        )
    return KeyFacts(path=path, is_named=is_named, exists=True, id=found)
