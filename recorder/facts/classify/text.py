"""Text that PostgreSQL can store and an index can hold.

Only columns are cleaned; the document itself stays unchanged.
"""

import re

TEXT_SIZE_BYTES_MAX = 1_024
"""In UTF-8. Names of Kubernetes have at most 253 characters; a row of an index
of PostgreSQL at most about 2,700 bytes, of all its columns together."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def clean(text: str | None) -> str | None:
    """Bound a text and replace what PostgreSQL rejects; None if empty."""
    if not text:
        return None
    if text.isascii() and "\x00" not in text:
        return text[:TEXT_SIZE_BYTES_MAX]
    storable = _UNSTORABLE.sub(_REPLACEMENT, text[:TEXT_SIZE_BYTES_MAX])
    # The cut may be inside a character; the rest of it is removed as well.
    return storable.encode()[:TEXT_SIZE_BYTES_MAX].decode(errors="ignore")
