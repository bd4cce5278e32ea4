"""A text that is read as a stream, and the documents that are found in it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from recorder.sources.files.unpacking import CutError

BLOCK = 1 << 20


class State(StrEnum):
    """Whether a document is complete."""

    WHOLE = "whole"
    TEXT = "text"
    CUT = "cut"
    TOO_LARGE = "too large"


@dataclass(frozen=True, slots=True)
class Document:
    """A document, or the text found in place of one."""

    raw: bytes
    """JSON if it is complete; else its beginning."""

    line: int
    """The number of its first line, from 1 on."""

    last_line: int
    state: State
    end: int
    """The offset after it in the text."""

    why: str = "it ends too early"
    """Why it is cut, if it is."""


class Text:
    """A window on a text: what was read and is still needed."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self.buffer = b""
        self.at = 0
        """The current place in the buffer."""

        self.line = 1
        """The number of its line."""

        self.before = 0
        """Bytes of the text before the buffer."""

        self.is_over = False
        """Whether the buffer holds the rest of it."""

        self.trouble: str | None = None
        """Why the rest of it cannot be read."""

    def more(self) -> int:
        """Read on; return how many bytes the buffer lost at its beginning.

        As many bytes are added as are held, up to a block: they are copied
        and searched again, which would take quadratic time in small steps.
        """
        gone = self.at
        wanted = min(max(len(self.buffer) - gone, 1), BLOCK)
        parts = [self.buffer[gone:]]
        while wanted > 0 and not self.is_over:
            try:
                block = self._read(BLOCK)
            except CutError as exc:
                block, self.trouble = b"", str(exc)
            self.is_over = not block
            parts.append(block)
            wanted -= len(block)
        self.buffer = b"".join(parts)
        self.before += gone
        self.at = 0
        return gone

    def move(self, to: int) -> None:
        """Move to a place in the buffer."""
        self.line += self.buffer.count(b"\n", self.at, to)
        self.at = to

    def skip(self, count: int) -> bool:
        """Skip the beginning of the text; return whether a line ends there."""
        while count and not self.is_over:
            step = min(count, len(self.buffer) - self.at)
            self.move(self.at + step)
            count -= step
            if count:
                self.more()
        if count:
            return False
        if self.buffer[self.at - 1 : self.at] == b"\n":
            return True
        if self.at == len(self.buffer):
            self.more()
        return self.line_end() == self.at

    def line_end(self, at: int | None = None) -> int:
        """Return where the newline of a line is, or the end of the text.

        -1 if it was not read yet, and the line is not too long.
        """
        begin = self.at if at is None else at
        found = self.buffer.find(b"\n", begin)
        if found < 0 and self.is_over:
            return len(self.buffer)
        return found

    def document(self, end: int, state: State, raw: bytes = b"") -> Document:
        """Return the document before a place, and move after it."""
        first = self.line
        raw = raw or self.buffer[self.at : end]
        self.move(end)
        last = self.line - (end > 0 and self.buffer[end - 1 : end] == b"\n")
        return Document(raw, first, max(first, last), state, self.before + end)
