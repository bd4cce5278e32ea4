"""What replaces a secret value in the log.

A keyed digest: the same value under the same key gives the same digest, so
that a change of a secret is visible, but without the key no one can try values
until one fits. The values of Secrets get no digest at all.
"""

import hashlib
import re

GONE = b"redacted"
"""Replaces what leaves no trace: values of Secrets, tokens."""

DIGEST_SIZE_BYTES = 16
_BLOCK_SIZE_BYTES = 64
_DIGEST = re.compile(rb"redacted:[0-9a-f]{32}")


def key_id(key: bytes) -> str:
    """Return a public name for a key, which does not help to find it."""
    digest = hashlib.sha256(b"recorder redaction key id" + key)
    return digest.hexdigest()[:16]


class KeyedDigest:
    """HMAC-SHA256 under one key, written ``redacted:<hex>``."""

    def __init__(self, key: bytes) -> None:
        # HMAC by hand, from hashes that already include the key: three times
        # as fast as the standard library's, which starts over each time.
        if len(key) > _BLOCK_SIZE_BYTES:
            key = hashlib.sha256(key).digest()
        block = key.ljust(_BLOCK_SIZE_BYTES, b"\0")
        self._inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block))
        self._outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in block))

    def mark(self, value: bytes) -> bytes:
        """Return 32 bytes by which we ourselves recognize a value."""
        inner = self._inner.copy()
        inner.update(value)
        return inner.digest()

    def __call__(self, value: bytes) -> bytes:
        """Return the replacement of a value; a digest stays as it is."""
        if value.startswith(GONE) and _DIGEST.fullmatch(value):
            return value
        outer = self._outer.copy()
        outer.update(self.mark(value))
        return (
            b"redacted:" + outer.hexdigest()[: 2 * DIGEST_SIZE_BYTES].encode()
        )
