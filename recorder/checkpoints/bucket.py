"""A bucket of an S3-compatible store as a place of checkpoints.

Each checkpoint is an object of its own that is created and never replaced, so
that the bucket may lock its objects. Credentials and endpoint are those of
the environment, as the AWS tools read them.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from recorder.checkpoints.place import PlaceError
from recorder.errors import ConfigError
from recorder.integrity.notes import SignedNote, parse_notes

__all__ = ["Bucket"]

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
        try:
            async for page in self._obstore.list(self._store, f"{log}/"):
                for found in page:
                    path = found["path"]
                    got = await self._obstore.get_async(self._store, path)
                    content = bytes(await got.bytes_async()).decode(
                        errors="replace"
                    )
                    parsed, torn = parse_notes(content)
                    notes += parsed
                    damaged += torn
        except (self._obstore.exceptions.BaseError, OSError) as exc:
            why = str(exc).partition("\n")[0]
            msg = f'cannot read checkpoints of "{self.name}": {why}'
            raise PlaceError(msg) from exc
        return notes, damaged
