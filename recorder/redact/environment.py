"""The quick way: environments as the API server writes them.

Nearly every environment is an array of plain variables, written without
whitespace, names before values. Such an array is decoded as what it is, and
the proof that it was is that encoding it gives the same bytes: then no key
was given twice, spelled with escapes or put elsewhere, and encoding it with
other values changes nothing but these.

Whatever does not stand the proof is left to the walk, which is slower by a
hundred times and needs none.
"""

import msgspec

from recorder.redact.digest import KeyedDigest
from recorder.redact.rules import NameMatcher
from recorder.redact.tokens import plain_value

__all__ = ["Environments"]

REMEMBERED_ARRAYS_MAX = 2_048
SIZE_BYTES_MAX = 4_096
"""Every version of a Pod, and every Pod of a Job, has the same environment.
What became of the last few is kept, under a keyed digest of the array, never
the array itself: at most 8 MiB, usually one."""


class _Variable(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    """A variable of a container; empty bytes stand for an absent member."""

    name: str
    value: msgspec.Raw = msgspec.Raw()
    value_from: msgspec.Raw = msgspec.Raw()


_NO_VALUE = (b"", b"null")
_decode = msgspec.json.Decoder(list[_Variable]).decode
_encode = msgspec.json.Encoder().encode


class Environments:
    """Redacts arrays of variables that are written plainly."""

    def __init__(self, matches: NameMatcher, digest: KeyedDigest) -> None:
        self._matches = matches
        self._digest = digest
        self._known: dict[bytes, bytes] = {}

    def redacted(self, array: bytes) -> bytes | None:
        """Redact an array of variables; None if it needs the walk."""
        mark = self._digest.mark(array)
        redacted = self._known.get(mark)
        if redacted is None:
            redacted = self._redact(array)
            if redacted is not None and len(array) <= SIZE_BYTES_MAX:
                if len(self._known) >= REMEMBERED_ARRAYS_MAX:
                    self._known.clear()
                self._known[mark] = redacted
        return redacted

    def _redact(self, array: bytes) -> bytes | None:
        try:
            variables = _decode(array)
        except (ValueError, RecursionError):
            return None
        if _encode(variables) != array:
            return None
        for variable in variables:
            value = bytes(variable.value)
            if self._matches(variable.name) and value not in _NO_VALUE:
                text = self._digest(plain_value(value))
                variable.value = msgspec.Raw(b'"%s"' % text)
        return _encode(variables)
