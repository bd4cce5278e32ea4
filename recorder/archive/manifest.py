"""The manifest: the files of a day of a log, and the hashes that prove it.

It is written last: a folder without one is unfinished, and written again.
"""

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import Annotated, ClassVar, Self

import msgspec

from recorder.archive.errors import ArchiveError
from recorder.integrity.tree import CompactRange, ProofError

FORMAT = 1

# An archive may come from an unknown writer: no name in it may lead to a file
# outside of the archive, or change a statement.
Name = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^(?:(?:entries|facts)-[0-9]{5,9}|batches|objects|nodes|words)"
        r"\.parquet$"
    ),
]
Digest = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
DayName = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
Uid = Annotated[
    str, msgspec.Meta(pattern=r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
]
Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]
Number = Annotated[int, msgspec.Meta(ge=1, lt=1 << 62)]


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One file."""

    name: Name
    rows: Count
    bytes: Count
    sha256: Digest


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """A JSON file that describes other files."""

    named: ClassVar[str] = ""
    """What errors call it, before its address."""

    def document(self) -> bytes:
        """Return the content of the file."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2)

    @classmethod
    def parse(cls, content: bytes, place: str) -> Self:
        """Return the description that a file contains.

        Raises:
            ArchiveError: the content is not a description of this kind.
        """
        try:
            return msgspec.json.decode(content, type=cls)
        except msgspec.MsgspecError as exc:
            msg = f'cannot read {cls.named}"{place}": {exc}'
            raise ArchiveError(msg) from exc


class LogFile(Description, frozen=True, kw_only=True):
    """The identity of a log, ``log.json`` beside its days."""

    origin: str
    uid: Uid
    kind: str
    cluster_name: str
    cluster_uid: str
    kubernetes: str
    tape_uid: str | None
    redaction_key_id: str | None
    created_at: datetime
    format: int = FORMAT


class Manifest(Description, frozen=True, kw_only=True):
    """One day of one log."""

    named: ClassVar[str] = "the manifest "

    origin: str
    """Which log, as its checkpoints name it."""

    cluster_name: str
    cluster_uid: str
    day: DayName
    """In UTC, by the time at which entries were recorded."""

    first_batch: Number
    last_batch: Number
    first_position: Number
    last_position: Number
    entries: Count
    facts: Count
    rules: int | None
    """The number of the rules that derived the facts."""

    range: str
    """The hashes of the largest complete subtrees over the day's batches, in
    hexadecimal: what joins the day to the tree of the log."""

    tree: str | None
    """The hash of the log's tree up to and including the last batch."""

    files: Sequence[Part]
    written_at: datetime
    release: str
    format: int = FORMAT

    @classmethod
    def parse(cls, content: bytes, place: str) -> Self:
        """Return the manifest that a file contains.

        Raises:
            ArchiveError: it is not a manifest, or has another format.
        """
        found = super().parse(content, place)
        if found.format != FORMAT:
            msg = (
                f'"{place}" has format {found.format} and this release reads'
                f" {FORMAT}; use the release that wrote it, or a newer one"
            )
            raise ArchiveError(msg)
        return found

    def batches(self, place: str) -> CompactRange:
        """Return the range over the hashes of the day's batches.

        Raises:
            ArchiveError: the range is not one of that many batches.
        """
        try:
            return CompactRange.unpack(
                self.first_batch - 1,
                self.last_batch,
                bytes.fromhex(self.range),
            )
        except (ProofError, ValueError) as exc:
            msg = f'the range in "{place}" is damaged: {exc}'
            raise ArchiveError(msg) from exc


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of content in hexadecimal."""
    return sha256(content).hexdigest()
