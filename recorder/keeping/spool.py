"""The spool of claims: events on disk until a recorder has taken them.

One file an event. Its number orders it: the time at which it was put, or one
more than the newest that waits. An event is in the spool whole or not at all,
survives a loss of power once `Spool.put` has returned, and is removed only
after it was accepted; whatever happens between, it is sent again with the same
id. An event that a recorder refuses goes to the folder `refused`, with the
reason. One process writes at a time, and one sends.
"""

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from recorder.keeping.secret_files import sync_folder
from recorder.model.errors import ConfigError

FILES_MAX = 10_000
"""Events that wait. A folder of as many is listed in milliseconds."""

BYTES_MAX = 64 << 20
"""Of the events that wait."""

REFUSED_MAX = 1_000
"""Refused events that are kept, the newest; each was reported by name."""

BATCH_MAX = 100
"""Events of one request, so that it is committed within a second."""

BATCH_BYTES_MAX = 1 << 20
"""Of one request, a quarter of what the recorder accepts."""

DIGITS = 20
LOCK_POLL_SECONDS = 0.02


def spool_folder(named: Path | None) -> Path:
    """Return the folder of all spools: that of the settings, or the default.

    The user's state folder; as root ``/var/spool/recorder``.
    """
    if named is not None:
        return named
    if os.geteuid() == 0:
        return Path("/var/spool/recorder")
    base = os.environ.get("XDG_STATE_HOME")
    state = Path(base) if base else Path.home() / ".local/state"
    return state / "recorder/spool"


class SpoolError(ConfigError):
    """An event cannot be kept on disk."""

    code = "send.spool"
    exit_status = 1


class Waiting(NamedTuple):
    """One event that waits."""

    number: int
    document: bytes


class Spool:
    """The events that wait for one recorder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._refused = folder / "refused"

    def put(self, document: bytes) -> int:
        """Add an event, on disk when this returns; return its number.

        Raises:
            SpoolError: there is no room, or the folder cannot be written.
        """
        try:
            self._refused.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._locked("writing"):
                newest = self._check_room(len(document))
                number = max(newest + 1, time.time_ns())
                _write(self._path(number), document)
        except OSError as exc:
            raise self._unwritable(exc) from exc
        return number

    def oldest(self) -> Sequence[Waiting]:
        """Return the events that are to be sent next, in their order.

        Raises:
            SpoolError: they cannot be read.
        """
        found: list[Waiting] = []
        size = 0
        try:
            for number in self._numbers()[:BATCH_MAX]:
                document = self._path(number).read_bytes()
                size += len(document)
                if found and size > BATCH_BYTES_MAX:
                    break
                found.append(Waiting(number, document))
        except OSError as exc:
            raise self._unwritable(exc) from exc
        return found

    def count(self) -> int:
        """Return how many events wait."""
        return len(self._numbers())

    def is_waiting(self, number: int) -> bool:
        """Return whether an event waits."""
        return self._path(number).exists()

    def remove(self, events: Sequence[Waiting]) -> None:
        """Remove events that the recorder has taken.

        Raises:
            SpoolError: the folder cannot be written.
        """
        try:
            for one in events:
                self._refusal(one.document).unlink(missing_ok=True)
                self._path(one.number).unlink(missing_ok=True)
        except OSError as exc:
            raise self._unwritable(exc) from exc

    def refuse(self, event: Waiting, status: int, reason: str) -> Path:
        """Move an event to the refused ones; return its new place.

        Raises:
            SpoolError: the folder cannot be written.
        """
        path = self._refusal(event.document)
        said = {
            "status": status,
            "reason": reason,
            "event": _read(event.document),
        }
        try:
            with self._locked("writing"):
                _write(path, json.dumps(said, ensure_ascii=False).encode())
                self._path(event.number).unlink(missing_ok=True)
                for old in _by_age(self._refused)[:-REFUSED_MAX]:
                    old.unlink(missing_ok=True)
        except OSError as exc:
            raise self._unwritable(exc) from exc
        return path

    def refusal_of(self, document: bytes) -> str | None:
        """Return why an event was refused; None if it was not."""
        try:
            said = json.loads(self._refusal(document).read_bytes())
        except (OSError, ValueError):
            return None
        return f"{said['status']}: {said['reason']}"

    @contextmanager
    def sending(self, seconds: float) -> Iterator[bool]:
        """Yield whether this process may send; others wait meanwhile."""
        try:
            with self._locked("sending", seconds):
                yield True
        except TimeoutError:
            yield False

    def _check_room(self, added: int) -> int:
        """Return the newest number.

        Raises:
            SpoolError: there is no room.
        """
        numbers = self._numbers()
        size = added
        for number in numbers:
            # Another process may have sent it since.
            with suppress(FileNotFoundError):
                size += self._path(number).stat().st_size
        if len(numbers) >= FILES_MAX or size > BYTES_MAX:
            msg = (
                f"cannot keep the event: {len(numbers)} events wait in"
                f" {self._folder}, which holds {FILES_MAX:,} events and"
                f" {BYTES_MAX >> 20} MiB; see why with `recorder send --flush`"
            )
            raise SpoolError(msg)
        return numbers[-1] if numbers else 0

    def _numbers(self) -> list[int]:
        try:
            names = [path.name for path in self._folder.iterdir()]
        except FileNotFoundError:
            return []
        return sorted(
            int(stem)
            for stem, dot, end in (name.partition(".") for name in names)
            if stem.isdecimal() and end == "json"
        )

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:0{DIGITS}}.json"

    def _refusal(self, document: bytes) -> Path:
        said = _read(document)
        named = (
            [said.get("source"), said.get("id")]
            if isinstance(said, dict)
            else said
        )
        name = sha256(json.dumps(named).encode()).hexdigest()[:32]
        return self._refused / f"{name}.json"

    @contextmanager
    def _locked(
        self, name: str, seconds: float | None = None
    ) -> Iterator[None]:
        """Keep other processes out while entered.

        Raises:
            TimeoutError: they did not leave in time.
        """
        lock = os.open(
            self._folder / f"{name}.lock", os.O_CREAT | os.O_RDWR, 0o600
        )
        try:
            _lock(lock, seconds)
            yield
        finally:
            os.close(lock)

    def _unwritable(self, exc: OSError) -> SpoolError:
        return SpoolError(
            f"cannot use the spool {self._folder}: {exc.strerror or exc};"
            " choose another folder with --spool or the setting send_spool"
        )


def _write(path: Path, content: bytes) -> None:
    """Write a file that is there whole or not at all, also without power."""
    # A name of its own is not needed: one process writes at a time.
    new = path.parent / "new"
    handle = os.open(new, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    new.replace(path)
    sync_folder(path.parent)


def _lock(lock: int, seconds: float | None) -> None:
    if seconds is None:
        flock(lock, LOCK_EX)
        return
    until = time.monotonic() + seconds
    while True:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise TimeoutError from None
            time.sleep(LOCK_POLL_SECONDS)
        else:
            return


def _by_age(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime)


def _read(document: bytes) -> object:
    try:
        return json.loads(document)
    except ValueError:
        return document.decode(errors="replace")
