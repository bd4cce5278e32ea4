"""Files with a key that only their owner may read."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from recorder.model.errors import ConfigError

OTHERS = 0o077
"""Permission bits of group and world: for a key that we made."""

OTHERS_OF_A_SECRET = 0o037
"""The same for a file that was named: Kubernetes gives the files of a mounted
Secret to the group of the pod, to be read."""


class KeyFileError(ConfigError):
    """A key cannot be used."""

    code = "key.file"
    exit_status = 1


def read_secret(path: Path, what: str, *, named: bool) -> str:
    """Read a key file.

    Raises:
        KeyFileError: it cannot be read, or others may read it.
    """
    try:
        _clear_drafts(path)
        mode = path.stat().st_mode
        text = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as exc:
        msg = f'cannot read the {what} "{path}": {exc}'
        raise KeyFileError(msg) from exc
    if mode & (OTHERS_OF_A_SECRET if named else OTHERS):
        msg = (
            f'cannot use the {what} "{path}": others may read it;'
            f" run: chmod 600 {path}"
        )
        raise KeyFileError(msg, code="key.open")
    return text


def make_once(path: Path, content: Callable[[], str]) -> None:
    """Make a key file, unless there is one.

    Linked into place whole, so that two first starts agree on one key.
    A start that finds a key there removes the drafts, also those under way.

    Raises:
        KeyFileError: it cannot be made.
    """
    if path.exists():
        return
    try:
        _make(path, content())
    except OSError as exc:
        msg = f'cannot make the key "{path}": {exc}'
        raise KeyFileError(msg) from exc


def _make(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(content)
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
    """Remove the drafts of a key that a killed first start left."""
    if not path.exists():
        return
    for draft in path.parent.glob(f".{path.name}.*"):
        with suppress(OSError):
            draft.unlink()


def sync_folder(path: Path) -> None:
    """Force the names in a folder to disk, which fsync of a file does not."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
