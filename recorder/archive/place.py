"""Where an archive is: a folder, or a bucket that speaks S3.

A file appears there complete or not at all: it is written into a scratch
folder first, then renamed in a folder, or uploaded to a bucket.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from recorder.archive.errors import ArchiveSettingError, PlaceError

UNFINISHED = ".unfinished"
"""Suffix of a file that is being written; the next run removes it."""


class Place(Protocol):
    """Where files are kept; their names are paths with slashes."""

    @property
    def uri(self) -> str:
        """Its address, for people and for other programs."""

    def put(self, name: str, file: Path) -> None:
        """Keep a file under a name; replace the file that was there.

        Raises:
            PlaceError: it cannot be written.
        """

    def read(self, name: str) -> bytes | None:
        """Return a small file; None if there is none.

        Raises:
            PlaceError: the place does not answer.
        """

    def size(self, name: str) -> int | None:
        """Return the size of a file; None if there is none."""

    def folders(self, name: str = "") -> Sequence[str]:
        """Return the names of the folders in a folder, sorted.

        Raises:
            PlaceError: the place does not answer, or there is none.
        """

    def files(self, name: str) -> Sequence[str]:
        """Return the names of the files in a folder, sorted.

        Raises:
            PlaceError: the place does not answer, or there is none.
        """

    def local(self, name: str) -> AbstractContextManager[Path]:
        """Return a context in which a file is on this machine."""

    def clear(self, folder: str) -> None:
        """Remove the files under a folder."""


class FolderPlace:
    """A folder, on a disk of any kind."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()

    @property
    def uri(self) -> str:
        """Where it is."""
        return str(self._folder)

    def put(self, name: str, file: Path) -> None:
        """Write a file durably."""
        target = self._folder / name
        fresh = target.with_name(target.name + UNFINISHED)
        with _errors(f'write "{target}"'):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, fresh)
            with fresh.open("rb+") as written:
                os.fsync(written.fileno())
            fresh.replace(target)
            _sync_folder(target.parent)

    def read(self, name: str) -> bytes | None:
        """Return a small file; None if there is none."""
        with _errors(f'read "{self._folder / name}"'):
            try:
                return (self._folder / name).read_bytes()
            except FileNotFoundError:
                return None

    def size(self, name: str) -> int | None:
        """Return the size of a file; None if there is none."""
        with _errors(f'read "{self._folder / name}"'):
            try:
                return (self._folder / name).stat().st_size
            except FileNotFoundError:
                return None

    def folders(self, name: str = "") -> Sequence[str]:
        """Return the names of the folders in a folder."""
        with _errors(f'read "{self._folder / name}"'):
            return sorted(
                path.name
                for path in (self._folder / name).iterdir()
                if path.is_dir()
            )

    def files(self, name: str) -> Sequence[str]:
        """Return the names of the files in a folder."""
        with _errors(f'read "{self._folder / name}"'):
            return sorted(
                path.name
                for path in (self._folder / name).iterdir()
                if not path.is_dir()
            )

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        """Yield the path of a file."""
        path = self._folder / name
        if not path.is_file():
            msg = f'cannot read "{path}": there is no such file'
            raise PlaceError(msg)
        yield path

    def clear(self, folder: str) -> None:
        """Remove a folder with its files."""
        with _errors(f'remove "{self._folder / folder}"'):
            shutil.rmtree(self._folder / folder, ignore_errors=False)


def open_place(uri: str) -> Place:
    """Return the place of an address: a folder, or ``s3://BUCKET/PREFIX``.

    Raises:
        ArchiveSettingError: it has another form.
    """
    scheme, separator, _ = uri.partition("://")
    if not separator:
        return FolderPlace(Path(uri).expanduser())
    if scheme != "s3":
        msg = (
            f'cannot archive into "{uri}": write a folder, or'
            " s3://BUCKET/PREFIX"
        )
        raise ArchiveSettingError(msg)
    from recorder.archive.bucket import BucketPlace  # noqa: PLC0415 - optional

    return BucketPlace(uri)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _errors(action: str) -> Iterator[None]:
    """Raise errors of the file system as a PlaceError with the action."""
    try:
        yield
    except FileNotFoundError as exc:
        if action.startswith("remove"):
            return
        msg = f"cannot {action}: {exc.strerror}"
        raise PlaceError(msg) from exc
    except OSError as exc:
        msg = (
            f"cannot {action}: {exc.strerror or exc}; make room or allow"
            " it, the next run begins this day again"
        )
        raise PlaceError(msg) from exc
