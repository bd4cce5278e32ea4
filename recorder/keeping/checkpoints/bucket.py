"""A bucket of an S3-compatible store as a place of checkpoints.

Each checkpoint is an object of its own that is created and never replaced, so
that the bucket may lock its objects. Credentials and endpoint are those of
the environment, as the AWS tools read them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from recorder.integrity.notes import SignedNote, parse_notes
from recorder.keeping.checkpoints.place import PlaceError
from recorder.model.errors import ConfigError

RETRIES = timedelta(seconds=20)
"""The next checkpoint comes in a minute and says all that this one would."""


class Bucket:
    """The objects below a prefix."""

    def __init__(self, address: str) -> None:
        self.name = address
        parts = urlsplit(address)
        try:
            import obstore  # noqa: PLC0415 - of the extra `bucket`
            from obstore.store import S3Store  # noqa: PLC0415
        except ImportError as exc:
            msg = (
                f'cannot use the checkpoint place "{address}": install'
                " kube-recorder[bucket]"
            )
            raise ConfigError(msg) from exc
        self._obstore: Any = obstore
        self._store: Any = S3Store(
            parts.netloc,
            prefix=parts.path.strip("/") or None,
            # A bucket that locks its objects refuses those without one.
            checksum_algorithm="SHA256",
            retry_config={"max_retries": 2, "retry_timeout": RETRIES},
        )

    async def write(self, log: str, note: SignedNote, at: datetime) -> None:
        """Create an object; one that is there is not replaced."""
        name = f"{log}/{at.astimezone(UTC):%Y-%m-%d/%H%M%S.%f}.note"
        try:
            await self._obstore.put_async(
                self._store, name, str(note).encode(), mode="create"
            )
        except (self._obstore.exceptions.BaseError, OSError) as exc:
            why = str(exc).partition("\n")[0]
            msg = f'cannot write a checkpoint to "{self.name}/{name}": {why}'
            raise PlaceError(msg) from exc

    async def read(self, log: str) -> tuple[Sequence[SignedNote], int]:
        """Read every object of the log."""
        notes: list[SignedNote] = []
        damaged = 0
        with self._reading():
            for path in await self._paths(f"{log}/"):
                parsed, torn = await self._notes_of(path)
                notes += parsed
                damaged += torn
        return notes, damaged

    async def newest(self, log: str) -> Sequence[SignedNote]:
        """Read the last object of the log that holds a checkpoint.

        They are named by their time.
        """
        with self._reading():
            for day in reversed(await self._folders(f"{log}/")):
                for path in reversed(await self._paths(f"{log}/{day}/")):
                    found, _ = await self._notes_of(path)
                    if found:
                        return found
        return ()

    async def logs(self) -> Sequence[str]:
        """Return the folders that hold checkpoints."""
        with self._reading():
            return await self._folders(None)

    async def _folders(self, prefix: str | None) -> Sequence[str]:
        found = await self._obstore.list_with_delimiter_async(
            self._store, prefix
        )
        return sorted(
            path.rstrip("/").rpartition("/")[2]
            for path in found["common_prefixes"]
        )

    async def _paths(self, prefix: str) -> Sequence[str]:
        return sorted(
            [
                found["path"]
                async for page in self._obstore.list(self._store, prefix)
                for found in page
            ]
        )

    async def _notes_of(self, path: str) -> tuple[list[SignedNote], int]:
        got = await self._obstore.get_async(self._store, path)
        content = bytes(await got.bytes_async()).decode(errors="replace")
        return parse_notes(content)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (self._obstore.exceptions.BaseError, OSError) as exc:
            why = str(exc).partition("\n")[0]
            msg = f'cannot read checkpoints of "{self.name}": {why}'
            raise PlaceError(msg) from exc
