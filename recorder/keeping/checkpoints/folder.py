"""Folders that keep checkpoints, and those that are Git repositories."""

import asyncio
import os
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from recorder.integrity.notes import SignedNote, parse_notes
from recorder.keeping.checkpoints.place import PlaceError

GIT_SECONDS = 60
DAY = "%Y-%m-%d"


class Folder:
    """A folder with a file of checkpoints for each log and day."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    async def write(self, log: str, note: SignedNote, at: datetime) -> None:
        """Append to the file of the day, and force it to the disk."""
        await asyncio.to_thread(self.add, log, note, at)

    def add(self, log: str, note: SignedNote, at: datetime) -> Path:
        """Append a checkpoint; return the file."""
        path = self.path / log / f"{at.astimezone(UTC):{DAY}}.notes"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                # Behind what a crash left half written begins another line.
                lead = "\n\n" if file.tell() else ""
                file.write(f"{lead}{note}".encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as exc:
            msg = f'cannot write a checkpoint to "{path}": {exc.strerror}'
            raise PlaceError(msg) from exc
        return path

    async def read(self, log: str) -> tuple[Sequence[SignedNote], int]:
        """Read the files of all days."""
        return await asyncio.to_thread(self._read, log)

    def _read(self, log: str) -> tuple[Sequence[SignedNote], int]:
        self._check()
        notes: list[SignedNote] = []
        damaged = 0
        for file in self._files(log):
            found, torn = _notes_of(file)
            notes += found
            damaged += torn
        return notes, damaged

    async def newest(self, log: str) -> Sequence[SignedNote]:
        """Read the file of the last day that has a checkpoint."""
        return await asyncio.to_thread(self._newest, log)

    def _newest(self, log: str) -> Sequence[SignedNote]:
        for file in reversed(self._files(log)):
            found, _ = _notes_of(file)
            if found:
                return found
        return ()

    async def logs(self) -> Sequence[str]:
        """Return the names of the folders that hold checkpoints."""
        return await asyncio.to_thread(self._logs)

    def _logs(self) -> Sequence[str]:
        self._check()
        return sorted(
            {file.parent.name for file in self.path.glob("*/*.notes")}
        )

    def _check(self) -> None:
        if not self.path.is_dir():
            msg = f'cannot read checkpoints: there is no folder "{self.path}"'
            raise PlaceError(msg)

    def _files(self, log: str) -> Sequence[Path]:
        return sorted((self.path / log).glob("*.notes"))


def _notes_of(file: Path) -> tuple[list[SignedNote], int]:
    try:
        content = file.read_text(errors="replace")
    except OSError as exc:
        msg = f'cannot read checkpoints "{file}": {exc.strerror}'
        raise PlaceError(msg) from exc
    return parse_notes(content)


class Repository(Folder):
    """The working tree of a Git repository; each checkpoint is a commit.

    Pushing is left to a hook or a timer of the operator: with the key of the
    remote, its history could be rewritten.
    """

    def add(self, log: str, note: SignedNote, at: datetime) -> Path:
        """Append a checkpoint and commit it."""
        if not (self.path / ".git").exists():
            msg = (
                f'cannot write checkpoints to "{self.path}": it is no Git'
                f" repository; make one with: git init {self.path}"
            )
            raise PlaceError(msg)
        file = super().add(log, note, at)
        name = str(file.relative_to(self.path))
        self._git("add", "--", name)
        self._git(
            "-c",
            "user.name=recorder",
            "-c",
            "user.email=recorder@localhost",
            "commit",
            "--quiet",
            "--message",
            f"checkpoint of {log}",
            "--",
            name,
        )
        return file

    def _git(self, *words: str) -> None:
        command = ["git", "-C", str(self.path), *words]
        try:
            subprocess.run(  # noqa: S603 - no word of it is of others
                command,
                check=True,
                capture_output=True,
                text=True,
                timeout=GIT_SECONDS,
            )
        except (OSError, subprocess.SubprocessError) as exc:
            said = getattr(exc, "stderr", None) or str(exc)
            msg = f'cannot commit a checkpoint in "{self.path}": {said}'
            raise PlaceError(msg) from exc
