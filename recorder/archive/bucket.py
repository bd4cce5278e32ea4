"""A bucket that speaks S3, through `obstore`, which is an extra.

Credentials come from where that library looks for them: the environment of
AWS, a profile, or the identity of a Pod.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recorder.archive.errors import ArchiveSettingError, PlaceError

CHUNK_BYTES = 8 << 20


class BucketPlace:
    """A prefix in a bucket; satisfies the port `Place`."""

    def __init__(self, uri: str, *, store: Any = None) -> None:
        """Take the address; no request is made yet.

        Raises:
            ArchiveSettingError: the extra is not installed.
        """
        self._uri = uri.rstrip("/")
        try:
            import obstore  # noqa: PLC0415 - an extra
            from obstore.store import from_url  # noqa: PLC0415
        except ImportError as exc:
            msg = (
                f'cannot archive into "{uri}": buckets need an extra:'
                " pip install 'kube-recorder[bucket]'"
            )
            raise ArchiveSettingError(msg) from exc
        self._api: Any = obstore
        # A bucket that locks its objects refuses those without a checksum.
        self._store = store or from_url(self._uri, checksum_algorithm="SHA256")

    @property
    def uri(self) -> str:
        """Where it is."""
        return self._uri

    def put(self, name: str, file: Path) -> None:
        """Upload a file."""
        with self._errors("write", name):
            self._api.put(self._store, name, file)

    def read(self, name: str) -> bytes | None:
        """Return a small file; None if there is none."""
        with self._errors("read", name):
            try:
                return bytes(self._api.get(self._store, name).bytes())
            except FileNotFoundError:
                return None

    def size(self, name: str) -> int | None:
        """Return the size of a file; None if there is none."""
        with self._errors("read", name):
            try:
                found = self._api.head(self._store, name)
            except FileNotFoundError:
                return None
            return int(found["size"])

    def folders(self, name: str = "") -> Sequence[str]:
        """Return the names of the folders in a folder."""
        prefix = f"{name}/" if name else None
        with self._errors("read", name):
            found = self._api.list_with_delimiter(self._store, prefix=prefix)
        return sorted(
            path.rstrip("/").rpartition("/")[2]
            for path in found["common_prefixes"]
        )

    def files(self, name: str) -> Sequence[str]:
        """Return the names of the files in a folder."""
        with self._errors("read", name):
            found = self._api.list_with_delimiter(
                self._store, prefix=f"{name}/"
            )
        return sorted(
            one["path"].rpartition("/")[2] for one in found["objects"]
        )

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        """Yield the path of a downloaded copy, which is removed on exit."""
        with tempfile.TemporaryDirectory(prefix="rec-") as folder:
            path = Path(folder) / "file"
            with self._errors("read", name), path.open("wb") as file:
                stream = self._api.get(self._store, name)
                for chunk in stream.stream(min_chunk_size=CHUNK_BYTES):
                    file.write(chunk)
            yield path

    def clear(self, folder: str) -> None:
        """Remove the files under a folder."""
        with self._errors("remove", folder):
            for page in self._api.list(self._store, prefix=f"{folder}/"):
                self._api.delete(self._store, [one["path"] for one in page])

    @contextmanager
    def _errors(self, action: str, name: str) -> Iterator[None]:
        """Raise errors of the bucket as a PlaceError with the action."""
        base = self._api.exceptions.BaseError
        try:
            yield
        except (base, OSError) as exc:
            said = (str(exc) or type(exc).__name__).splitlines()[0]
            msg = f'cannot {action} "{self._uri}/{name}": {said}'
            raise PlaceError(msg) from exc
