"""Where a JSON value ends, found by its brackets, while it is being read.

Nothing is decoded. A bracket where JSON has none shows that the value was cut,
so that it does not swallow the next one.
"""

import re
from typing import Literal

_OTHERS = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\\n]++|\\[^\n])*+")*+')
"""Everything up to the next bracket, or to a string that does not end."""

_SPACE = b" \t\r\n"
_KEY = re.compile(rb'"([^"\\\n]{1,64})"\s*:\s*$')
KEY_BYTES = 128
OPENING, CLOSING = b"{[", {ord("}"): ord("{"), ord("]"): ord("[")}

Found = Literal["end", "more", "broken"]


class Brackets:
    """One value, from its opening bracket on."""

    def __init__(self, at: int, stack: bytes = b"") -> None:
        """Start at a place in a buffer, within the brackets of a stack."""
        self.at = at
        """The place up to which the value was read."""

        self._stack = bytearray(stack)
        self._begin = at
        self.lists: dict[bytes, int] = {}
        """Where each list of objects or lists that is a member of the value
        begins, after its bracket."""

        self._list: bytes | None = None

    def moved(self, by: int) -> None:
        """Note that the buffer lost so many bytes at its beginning."""
        self.at -= by
        self._begin -= by
        self.lists = {key: at - by for key, at in self.lists.items()}

    def read(self, buffer: bytes) -> Found:
        """Read on; ``at`` is behind the value if it ended."""
        while True:
            found = _OTHERS.match(buffer, self.at)
            assert found is not None, "it matches nothing, too"
            at = found.end()
            if at == len(buffer):
                # A string is not skipped before its end is known.
                return "more"
            byte = buffer[at]
            if byte == ord('"'):
                is_broken = buffer.find(b"\n", at) >= 0
                return "broken" if is_broken else "more"
            self.at = at + 1
            if byte not in OPENING:
                if not self._stack or self._stack.pop() != CLOSING[byte]:
                    return "broken"
                if not self._stack:
                    return "end"
            elif self._stack and not self._may_open(buffer, at):
                return "broken"
            else:
                self._open(buffer, at, byte)

    def _may_open(self, buffer: bytes, at: int) -> bool:
        before = at - 1
        while buffer[before] in _SPACE:
            before -= 1
        if self._stack[-1] == ord("{"):
            return buffer[before] == ord(":")
        return buffer[before] in b"[,"

    def _open(self, buffer: bytes, at: int, byte: int) -> None:
        self._stack.append(byte)
        depth = len(self._stack)
        if depth == 2 and byte == ord("["):  # noqa: PLR2004 - of the value
            key = _KEY.search(buffer[max(at - KEY_BYTES, self._begin) : at])
            self._list = None if key is None else key[1]
        elif depth == 3 and self._list is not None:  # noqa: PLR2004
            opened = buffer.rfind(b"[", self._begin, at)
            self.lists.setdefault(self._list, opened + 1)
            self._list = None
        elif depth == 2:  # noqa: PLR2004
            self._list = None
