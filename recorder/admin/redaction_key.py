"""The key of redaction digests: a file that only its owner may read.

The log keeps the key's id, never the key; whoever has the key could try out
values against the digests.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from recorder.admin.folders import sync_folder
from recorder.errors import ConfigError
from recorder.settings import Settings

__all__ = ["KeyFileError", "OpenToOthersError", "load_key"]

KEY_BYTES = 32
OTHERS = 0o077
"""Permission bits of group and world: for the key that we made."""

OTHERS_OF_A_SECRET = 0o037
"""The same for a file that was named: Kubernetes gives the files of a mounted
Secret to the group of the pod, to be read."""


class KeyFileError(ConfigError):
    """The redaction key cannot be used."""

    code = "redaction.key_file"
    exit_status = 1


class OpenToOthersError(KeyFileError):
    """Others than its owner may read the redaction key."""

    code = "redaction.key_open"


def load_key(settings: Settings) -> bytes:
    """Read the key; make one where none was named and none exists.

    Raises:
        KeyFileError: the file cannot be read, others may read it, or it
            holds no key.
    """
    named = settings.redaction_key_file
    path = named or settings.data_dir / "redaction.key"
    try:
        if named is None:
            if not path.exists():
                _make(path)
            _clear_drafts(path)
        mode = path.stat().st_mode
        text = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as exc:
        msg = f'cannot read the redaction key "{path}": {exc}'
        raise KeyFileError(msg) from exc
    if mode & (OTHERS if named is None else OTHERS_OF_A_SECRET):
        msg = (
            f'cannot use the redaction key "{path}": others may read it;'
            f" run: chmod 600 {path}"
        )
        raise OpenToOthersError(msg)
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) < KEY_BYTES:
        msg = (
            f'cannot use the redaction key "{path}": it must hold'
            f" {KEY_BYTES * 2} or more hexadecimal digits; make one with:"
            f" openssl rand -hex {KEY_BYTES}"
        )
        raise KeyFileError(msg)
    return key


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Linked into place whole, so that two first starts agree on one key.
    # Whoever finds a key there takes away the drafts, also those under way.
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_hex(KEY_BYTES) + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        path.hardlink_to(draft)
    except (FileExistsError, FileNotFoundError):
        pass
    finally:
        draft.unlink(missing_ok=True)
    # The log names the key from its first entry on.
    sync_folder(path.parent)


def _clear_drafts(path: Path) -> None:
    """Take away what a first start that was killed has left of the key."""
    for draft in path.parent.glob(f".{path.name}.*"):
        with suppress(OSError):
            draft.unlink()
