"""The key that signs checkpoints, and the keys whose checkpoints count.

The private key never enters the database: a role that can edit the log must
not be able to sign the result. Public keys are kept beside it, one a
line, also those that were replaced, since what they signed still counts.
"""

import os
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from recorder.integrity.notes import PUBLIC_BYTES, NoteError, VerifierKey
from recorder.keeping.secret_files import (
    KeyFileError,
    make_once,
    read_secret,
    sync_folder,
)
from recorder.model.settings import Settings

WHAT = "signing key"
BASE64_LENGTH = 44
"""Characters of a key of 32 bytes; a verifier key has more."""


@dataclass(frozen=True, slots=True)
class TrustedKey:
    """A public key whose checkpoints count."""

    public: bytes
    since: str
    """When it was made, as text; empty where it is not known."""

    @property
    def written(self) -> str:
        """The key in base64."""
        return b64encode(self.public).decode()


def load_signing_key(settings: Settings) -> Ed25519PrivateKey:
    """Read the key; make one where none was named and none exists.

    Raises:
        KeyFileError: the file cannot be read, others may read it, or it
            holds no Ed25519 key.
    """
    named = settings.signing_key_file
    path = named or settings.data_dir / "signing.key"
    if named is None:
        make_once(path, _new_key)
    text = read_secret(path, WHAT, named=named is not None)
    try:
        key = load_pem_private_key(text.encode(), password=None)
    except (ValueError, TypeError) as exc:
        msg = (
            f'cannot use the signing key "{path}": it must be an Ed25519 key'
            " in PEM; make one with `recorder keys make`, or: openssl genpkey"
            " -algorithm ed25519"
        )
        raise KeyFileError(msg) from exc
    if not isinstance(key, Ed25519PrivateKey):
        msg = f'cannot use the signing key "{path}": it is no Ed25519 key'
        raise KeyFileError(msg)
    return key


def trusted_keys(settings: Settings) -> Sequence[TrustedKey]:
    """Return the public keys whose checkpoints count, oldest first.

    Raises:
        KeyFileError: the file cannot be read, or a line of it is no key.
    """
    named = settings.trusted_keys
    path = named or settings.data_dir / "signing.pub"
    if named is None and not path.exists():
        return []
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as exc:
        msg = f'cannot read the trusted keys "{path}": {exc}'
        raise KeyFileError(msg) from exc
    return [
        _trusted(line, f"line {number} of {path}")
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.startswith("#")
    ]


def own_keys(settings: Settings) -> Sequence[bytes]:
    """Return the trusted keys, or that of a signing key that is there.

    Raises:
        KeyFileError: a file of them cannot be read.
    """
    if found := trusted_keys(settings):
        return [one.public for one in found]
    path = settings.signing_key_file or settings.data_dir / "signing.key"
    if not path.exists():
        return []
    return [load_signing_key(settings).public_key().public_bytes_raw()]


def trust(settings: Settings, key: Ed25519PrivateKey, now: datetime) -> None:
    """Add the public key of a private one to those that count."""
    public = key.public_key().public_bytes_raw()
    known = trusted_keys(settings)
    if settings.trusted_keys is not None or public in {
        one.public for one in known
    }:
        return
    path = settings.data_dir / "signing.pub"
    made = TrustedKey(public, now.isoformat(timespec="seconds"))
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    lines = [f"{one.written} {one.since}\n" for one in [*known, made]]
    try:
        draft.write_text("".join(lines))
        draft.replace(path)
        sync_folder(path.parent)
    except OSError as exc:
        msg = (
            f'cannot add the public key to "{path}": {exc.strerror}; name a'
            " file that holds it with RECORDER_TRUSTED_KEYS"
        )
        raise KeyFileError(msg) from exc


def rotate(settings: Settings, now: datetime) -> Ed25519PrivateKey:
    """Replace the key; what the old one signed still counts.

    Raises:
        KeyFileError: an operator named the file, and replaces it.
    """
    if settings.signing_key_file is not None:
        msg = (
            f'cannot replace the signing key "{settings.signing_key_file}":'
            " the setting signing_key_file names it; replace that file, and"
            " add its public key to the trusted keys"
        )
        raise KeyFileError(msg)
    # The old one is trusted before it goes.
    trust(settings, load_signing_key(settings), now)
    path = settings.data_dir / "signing.key"
    draft = path.with_name(f"{path.name}.next")
    draft.unlink(missing_ok=True)
    make_once(draft, _new_key)
    draft.replace(path)
    sync_folder(path.parent)
    key = load_signing_key(settings)
    trust(settings, key, now)
    return key


def _new_key() -> str:
    return (
        Ed25519PrivateKey.generate()
        .private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        .decode()
    )


def _trusted(line: str, place: str) -> TrustedKey:
    """Read a key in base64, or a verifier key of any name."""
    key, _, since = line.strip().partition(" ")
    try:
        public = (
            b64decode(key, validate=True)
            if len(key) == BASE64_LENGTH
            else VerifierKey.parse(key).public
        )
    except (NoteError, Base64Error, ValueError):
        public = b""
    if len(public) != PUBLIC_BYTES:
        msg = f"cannot use {place}: it is no Ed25519 public key in base64"
        raise KeyFileError(msg)
    return TrustedKey(public, since)
