"""Splitting a text into documents, wherever each of them begins and ends.

Documents may be one per line, one after another, over several lines, in a
list, in a list that is a member of another document (if that one does not end,
or is too large to be held), after a prefix on their line, in the lines of a
container's log, or the rows of a CSV file. Everything in a text is yielded
once: what is none of these as a line of text, what ends too early as cut.
Memory is bounded by the largest document.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import msgspec

from recorder.sources.files.brackets import Brackets
from recorder.sources.files.containers import ContainerLines
from recorder.sources.files.rows import CsvRows
from recorder.sources.files.text import Document, State, Text

DOCUMENT_BYTES_MAX = 16 << 20
"""A record is far smaller; larger documents are lists of records."""

PREFIX_BYTES_MAX = 512
"""The longest prefix of a document on its line."""

LISTS = (
    b"items", b"events", b"logEvents", b"records", b"results", b"entries",
    b"value", b"values", b"hits",
)  # fmt: skip
"""Members whose elements may be documents of their own."""

_SPACE = re.compile(rb"\s*")
_SPACE_AND_COMMAS = re.compile(rb"[\s,]*")
_INDENT = re.compile(rb"[ \t]*")
_STRING = re.compile(rb'"(?:[^"\\\n]++|\\[^\n])*+"(?=[ \t\r]*+(?:[,\]\n]|\Z))')
_WITHIN = re.compile(rb'\{"(?:kind|metadata|apiVersion|level)":')
"""How a record begins that was written after one that was cut."""


def documents(
    read: Callable[[int], bytes], *, offset: int = 0
) -> Iterator[Document]:
    """Yield the documents of a text, in their order.

    Args:
        read: returns up to that many bytes, none at the end; `CutError` is the
            end of what can be read.
        offset: where in the text to begin, at the beginning of a line.
    """
    text = Text(read)
    text.skip(offset)
    rows = CsvRows.of(text)
    state = State.WHOLE
    for document in (rows or _Splitter(text)).documents():
        state = document.state
        is_last = document.end == text.before + len(text.buffer)
        if text.trouble and state is State.CUT and is_last:
            document = replace(document, why=text.trouble)  # noqa: PLW2901
        yield document
    if text.trouble and state is not State.CUT:
        document = text.document(len(text.buffer), State.CUT)
        yield replace(document, why=text.trouble)


def is_json(raw: bytes) -> bool:
    """Return whether bytes are one JSON value."""
    try:
        msgspec.json.decode(raw, type=msgspec.Raw)
    except (ValueError, RecursionError):
        return False
    return True


class _Splitter:
    def __init__(self, text: Text) -> None:
        self._text = text
        self._depth = 0
        """Lists of documents that were entered."""

        self._outer: list[bool] = []
        """Of each, whether it is a member of a document."""

        self._slow_until = -1
        """Where a line ends that has several documents."""

        self._containers = ContainerLines()

    def documents(self) -> Iterator[Document]:
        text = self._text
        while True:
            space = _SPACE_AND_COMMAS if self._outer else _SPACE
            found = space.match(text.buffer, text.at)
            assert found is not None, "it matches nothing, too"
            text.move(found.end())
            if text.at == len(text.buffer):
                if text.is_over:
                    break
                self._more()
                continue
            yield from self._next(text.buffer[text.at])
        yield from self._rest()

    def _rest(self) -> Iterator[Document]:
        text = self._text
        if self._containers.is_holding:
            yield Document(b"", text.line, text.line, State.CUT, text.before)

    def _more(self) -> None:
        gone = self._text.more()
        self._slow_until = max(self._slow_until - gone, -1)

    def _next(self, byte: int) -> Iterator[Document]:
        if self._outer and byte == ord("]"):
            self._text.move(self._text.at + 1)
            if self._outer.pop():
                self._leave()
        elif byte == ord("[") and not self._outer:
            self._text.move(self._text.at + 1)
            self._outer.append(False)
        elif byte in b"{[":
            yield from self._value()
        elif byte != ord('"') or (end := self._string_end()) is None:
            yield from self._line()
        else:
            yield self._text.document(end, State.WHOLE)

    def _string_end(self) -> int | None:
        """Return where a JSON string ends that begins here, as in a list."""
        text = self._text
        while (found := _STRING.match(text.buffer, text.at)) is None:
            held = len(text.buffer) - text.at
            if text.line_end() >= 0 or held > DOCUMENT_BYTES_MAX:
                return None
            self._more()
        return found.end() if is_json(found[0]) else None

    def _value(self) -> Iterator[Document]:
        text = self._text
        raw = self._line_of_one()
        if raw is not None:
            yield from self._found(text.line_end(), raw)
            return
        brackets = Brackets(text.at)
        found = self._read_on(brackets)
        raw = text.buffer[text.at : brackets.at]
        if found == "end" and is_json(raw):
            yield from self._found(brackets.at, raw)
        elif found == "more" and self._entered(brackets):
            return
        elif found == "more" and not text.is_over:
            yield from self._too_large()
        else:
            yield from self._cut()

    def _line_of_one(self) -> bytes | None:
        """Return the document that a line is, as most lines are."""
        text = self._text
        if text.at < self._slow_until:
            return None
        end = text.line_end()
        if end < 0:
            # Searched for once, and not before each of its documents.
            self._slow_until = len(text.buffer)
            return None
        raw = text.buffer[text.at : end].rstrip(b" \t\r,")
        if is_json(raw):
            return raw
        self._slow_until = end
        return None

    def _read_on(self, brackets: Brackets) -> str:
        text = self._text
        while (found := brackets.read(text.buffer)) == "more":
            if text.is_over or len(text.buffer) - text.at > DOCUMENT_BYTES_MAX:
                break
            gone = text.at
            self._more()
            brackets.moved(gone)
        return found

    def _found(self, end: int, raw: bytes) -> Iterator[Document]:
        whole = self._containers.docker(raw)
        if whole is not None:
            yield self._text.document(end, _state_of(whole), whole)
        else:
            self._text.move(end)

    def _entered(self, brackets: Brackets) -> bool:
        """Enter the list of a document that does not end here."""
        if self._outer:
            return False
        for key in LISTS:
            if key in brackets.lists:
                self._text.move(brackets.lists[key])
                self._outer.append(True)
                return True
        return False

    def _leave(self) -> None:
        """Skip what follows a list in its document."""
        text = self._text
        brackets = Brackets(text.at, b"{")
        while (found := brackets.read(text.buffer)) == "more":
            if text.is_over:
                break
            text.move(brackets.at)
            gone = text.at
            self._more()
            brackets.moved(gone)
        # A document that does not end is still a list of others.
        text.move(len(text.buffer) if found == "more" else brackets.at)

    def _too_large(self) -> Iterator[Document]:
        text = self._text
        line, head = text.line, text.buffer[text.at : text.at + 256]
        while (end := text.line_end()) < 0:
            text.move(len(text.buffer))
            self._more()
        text.move(end)
        yield Document(
            head, line, text.line, State.TOO_LARGE, text.before + text.at
        )

    def _cut(self) -> Iterator[Document]:
        """Skip what was cut, up to where another document begins."""
        text = self._text
        begin = text.at
        newline = text.buffer.rfind(b"\n", 0, begin) + 1
        indent = _indent(text.buffer, newline)
        end = text.line_end()
        while end < 0:
            self._more()
            end = text.line_end()
        within = self._within(end)
        if within is not None:
            yield text.document(within, State.CUT)
            return
        while end < len(text.buffer) or not text.is_over:
            begins = end + 1
            following = text.line_end(begins)
            if following < 0:
                # What was cut so far is skipped.
                end -= self._forget(end)
                continue
            if (
                _indent(text.buffer, begins) == indent
                and text.buffer[begins + indent : begins + indent + 1] in b"{["
                and begins + indent < len(text.buffer)
            ):
                break
            if text.buffer[begins : begins + 1] not in b"{[ \t}]\r\n":
                break
            end = following
        yield text.document(end, State.CUT)

    def _forget(self, end: int) -> int:
        text = self._text
        text.move(min(end, len(text.buffer)))
        gone = text.at
        self._more()
        return gone

    def _within(self, end: int) -> int | None:
        """Return where on a line a whole document follows one that was cut."""
        buffer, at = self._text.buffer, self._text.at
        for found in _WITHIN.finditer(buffer, at + 1, end):
            if is_json(buffer[found.start() : end].rstrip(b" \t\r,")):
                return found.start()
        return None

    def _line(self) -> Iterator[Document]:
        """Yield the contents of a line that does not begin with a bracket."""
        text = self._text
        while (end := text.line_end()) < 0:
            if len(text.buffer) - text.at > DOCUMENT_BYTES_MAX:
                yield from self._too_large()
                return
            self._more()
        line = text.buffer[text.at : end].rstrip(b"\r")
        joined = self._containers.cri(line)
        if joined is None:
            yield self._prefixed(end, line)
        elif joined:
            yield text.document(end, _state_of(joined), joined)
        elif end == len(text.buffer) and not self._containers.is_holding:
            yield text.document(end, State.CUT)
        else:
            text.move(end)

    def _prefixed(self, end: int, line: bytes) -> Document:
        begin = line.find(b"{", 0, PREFIX_BYTES_MAX)
        raw = line[begin:].rstrip() if begin > 0 else b""
        if not raw:
            return self._text.document(end, State.TEXT)
        return self._text.document(end, _state_of(raw), raw)


def _state_of(raw: bytes) -> State:
    """Return the state of the contents of a line, which end with the line."""
    if not raw.startswith((b"{", b"[")):
        return State.TEXT
    return State.WHOLE if is_json(raw) else State.CUT


def _indent(buffer: bytes, at: int) -> int:
    found = _INDENT.match(buffer, at)
    assert found is not None, "it matches nothing, too"
    return found.end() - found.start()
