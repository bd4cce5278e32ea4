"""Signed notes and checkpoints, as C2SP specifies them, with Ed25519.

A checkpoint commits to a log up to a batch: three lines, the origin of the
log, the number of batches and the hash of the tree over them, and signatures
below an empty line. See https://c2sp.org/signed-note and
https://c2sp.org/tlog-checkpoint.
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from recorder.integrity.tree import HASH_BYTES

ED25519 = b"\x01"
COSIGNATURE = b"\x04"
KEY_ID_BYTES = 4
STAMP_BYTES = 8
PUBLIC_BYTES = 32
DASH = "\u2014 "


class NoteError(ValueError):
    """A note, a checkpoint or a key does not have the form of one."""


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A name and a public key, as ``NAME+ID+KEY``."""

    name: str
    public: bytes
    kind: bytes = ED25519
    """`ED25519` of a log, `COSIGNATURE` of a witness."""

    @property
    def id(self) -> bytes:
        """The four bytes by which a signature names its key."""
        name = self.name.encode()
        return sha256(name + b"\n" + self.kind + self.public).digest()[
            :KEY_ID_BYTES
        ]

    def __str__(self) -> str:
        """Return the written form."""
        key = b64encode(self.kind + self.public).decode()
        return f"{self.name}+{self.id.hex()}+{key}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the written form.

        Raises:
            NoteError: it has another form, or its ID is another key's.
        """
        name, _, rest = text.strip().partition("+")
        number, _, key = rest.partition("+")
        raw = _decoded(key)
        kind = raw[:1]
        is_known = kind in {ED25519, COSIGNATURE}
        if not name or not is_known or len(raw) != 1 + PUBLIC_BYTES:
            msg = (
                f'"{text.strip()[:80]}" is not a verifier key: write'
                " NAME+ID+KEY, as `recorder keys show` prints it"
            )
            raise NoteError(msg)
        found = cls(name, raw[1:], kind)
        if found.id.hex() != number:
            msg = f'the verifier key of "{name}" has another ID than it says'
            raise NoteError(msg)
        return found


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a log is committed to."""

    origin: str
    batches: int
    root: bytes

    def text(self) -> str:
        """Return the text that is signed."""
        root = b64encode(self.root).decode()
        return f"{self.origin}\n{self.batches}\n{root}\n"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the text; lines after the third are ignored.

        Raises:
            NoteError: it is not a checkpoint.
        """
        origin, _, rest = text.partition("\n")
        batches, _, rest = rest.partition("\n")
        root = _decoded(rest.partition("\n")[0])
        if (
            not origin
            or not batches.isascii()
            or not batches.isdecimal()
            or len(root) != HASH_BYTES
        ):
            msg = f'not a checkpoint: "{text[:60]}"'
            raise NoteError(msg)
        return cls(origin, int(batches), root)


@dataclass(frozen=True, slots=True)
class SignedNote:
    """A text and its signatures."""

    text: str
    signatures: Sequence[tuple[str, bytes]] = field(default=())
    """Name, and the key's ID followed by the signature."""

    def __str__(self) -> str:
        """Return the note."""
        lines = "".join(
            f"{DASH}{name} {b64encode(raw).decode()}\n"
            for name, raw in self.signatures
        )
        return f"{self.text}\n{lines}"

    def is_signed_by(self, key: VerifierKey) -> bool:
        """Return whether it has a valid signature of the key.

        Raises:
            NoteError: a signature claims to be of the key and is not.
        """
        for name, raw in self.signatures:
            if name != key.name or raw[:KEY_ID_BYTES] != key.id:
                continue
            public = Ed25519PublicKey.from_public_bytes(key.public)
            try:
                public.verify(raw[KEY_ID_BYTES:], self.text.encode())
            except InvalidSignature as exc:
                msg = f'the signature of "{name}" is not of this text'
                raise NoteError(msg) from exc
            return True
        return False

    def cosigned_at(self, key: VerifierKey) -> datetime | None:
        """Return when a witness cosigned it; None if it did not.

        Raises:
            NoteError: a signature claims to be of the key and is not.
        """
        for name, raw in self.signatures:
            if name != key.name or raw[:KEY_ID_BYTES] != key.id:
                continue
            stamp = raw[KEY_ID_BYTES : KEY_ID_BYTES + STAMP_BYTES]
            seconds = int.from_bytes(stamp)
            text = f"cosignature/v1\ntime {seconds}\n{self.text}"
            public = Ed25519PublicKey.from_public_bytes(key.public)
            try:
                public.verify(raw[KEY_ID_BYTES + STAMP_BYTES :], text.encode())
                return datetime.fromtimestamp(seconds, UTC)
            except (InvalidSignature, ValueError, OverflowError) as exc:
                msg = f'the cosignature of "{name}" is not of this text'
                raise NoteError(msg) from exc
        return None

    def with_signatures(self, lines: str) -> Self:
        """Return it with further signature lines.

        Raises:
            NoteError: a line is not a signature.
        """
        more = [_signature(line + "\n") for line in lines.splitlines()]
        found = [one for one in more if one is not None]
        if not found or len(found) != len(more):
            msg = f'not signatures: "{lines[:60]}"'
            raise NoteError(msg)
        return type(self)(self.text, (*self.signatures, *found))

    @classmethod
    def parse(cls, note: str) -> Self:
        """Parse one note.

        Raises:
            NoteError: it is not a note, or there is more.
        """
        found, damaged = parse_notes(note)
        if len(found) != 1 or damaged:
            msg = f'not a signed note: "{note[:60]}"'
            raise NoteError(msg)
        return cls(found[0].text, found[0].signatures)


def sign(text: str, key: Ed25519PrivateKey, name: str) -> SignedNote:
    """Sign a text by the name of a key."""
    public = key.public_key().public_bytes_raw()
    raw = VerifierKey(name, public).id + key.sign(text.encode())
    return SignedNote(text, ((name, raw),))


def parse_notes(content: str) -> tuple[list[SignedNote], int]:
    """Parse notes that follow one another; return how many are damaged.

    What a crash left half written, at the end or before more was appended, is
    skipped and counted.
    """
    found: list[SignedNote] = []
    damaged = 0
    text: list[str] = []
    signatures: list[tuple[str, bytes]] = []
    behind = False
    for line in [*content.splitlines(keepends=True), ""]:
        if behind and (signature := _signature(line)) is not None:
            signatures.append(signature)
            continue
        if behind:
            if signatures:
                found.append(SignedNote("".join(text), tuple(signatures)))
            else:
                damaged += 1
            text, signatures, behind = [], [], False
        if line == "\n" and text:
            behind = True
        elif line.strip():
            text.append(line)
    return found, damaged + bool(text)


def _signature(line: str) -> tuple[str, bytes] | None:
    if not line.startswith(DASH) or not line.endswith("\n"):
        return None
    name, _, encoded = line.removeprefix(DASH).rstrip("\n").rpartition(" ")
    try:
        raw = _decoded(encoded)
    except NoteError:
        return None
    return (name, raw) if name and len(raw) > KEY_ID_BYTES else None


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (Base64Error, ValueError) as exc:
        msg = f'"{text[:40]}" is not base64'
        raise NoteError(msg) from exc


def signed_by_any(
    note: SignedNote, keys: Iterable[bytes], name: str
) -> bytes | None:
    """Return the public key that signed a note under a name; None for none.

    Raises:
        NoteError: a signature claims to be of one of the keys and is not.
    """
    for public in keys:
        if note.is_signed_by(VerifierKey(name, public)):
            return public
    return None
