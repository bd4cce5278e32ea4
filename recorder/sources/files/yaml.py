"""YAML, read as a stream and turned into documents of JSON.

The items of a list are documents of their own, so that memory does not grow
with the list. Anchors and aliases are refused: kubectl writes none, and a few
of them make a text of gigabytes. Scalars follow the core schema, except for
times, which stay texts.
"""

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import yaml
from yaml._yaml import CParser

from recorder.sources.files.text import Document, State
from recorder.sources.files.unpacking import CutError

DEPTH_MAX = 64
"""Deeper than any object of a cluster, but for a schema of a definition."""

NODES_MAX = 2_000_000
"""Keys and values of one document: an object of an API server has at most a
few megabytes."""

_BEGINS = re.compile(
    rb"\A(?:---[^\n]*\n|%YAML[^\n]*\n|#[^\n]*\n|\s*\n)*"
    rb"(?:apiVersion|kind|items|metadata):(?:\s|\Z)"
)
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})\Z")
_FLOAT = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?\Z")
_WORDS = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip


class _RefusedError(ValueError):
    """A document that is not read."""


class _Stream:
    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self.trouble: str | None = None

    def read(self, size: int = 1 << 16, /) -> bytes:
        try:
            return (
                self._read(max(size, 1 << 16)) if self.trouble is None else b""
            )
        except CutError as exc:
            self.trouble = str(exc)
            return b""


def is_yaml(begins: bytes) -> bool:
    """Return whether a text begins as an object or a list of them in YAML."""
    return _BEGINS.match(begins) is not None


def yaml_documents(read: Callable[[int], bytes]) -> Iterator[Document]:
    """Yield the documents of a text, and the items of its lists, as JSON.

    What cannot be parsed ends it, as a document that was cut. The list itself
    follows its items, without them.

    Args:
        read: returns up to that many bytes, none at the end.
    """
    stream = _Stream(read)
    builder = None
    try:
        parser = CParser(stream)
        builder = _Builder(parser)
        for value, line, last in builder.values():
            yield _document(value, line, last)
    except yaml.YAMLError as exc:
        line = builder.line if builder is not None else 1
        why = stream.trouble or f"it is not YAML from here on: {_said(exc)}"
        yield Document(b"", line, line, State.CUT, 0, why)
    except _RefusedError as exc:
        line = builder.line if builder is not None else 1
        why = f"it is not read from here on: {exc}"
        yield Document(b"", line, line, State.CUT, 0, why)
    else:
        if stream.trouble:
            yield Document(b"", 0, 0, State.CUT, 0, stream.trouble)


def _said(exc: yaml.YAMLError) -> str:
    return str(getattr(exc, "problem", None) or exc).splitlines()[0][:120]


def _document(value: object, line: int, last: int) -> Document:
    try:
        raw = orjson.dumps(value)
    except (TypeError, orjson.JSONEncodeError):
        return Document(b"", line, last, State.TOO_LARGE, 0)
    return Document(raw, line, last, State.WHOLE, 0)


class _Builder:
    """Builds values from the events of a parser."""

    def __init__(self, parser: Any) -> None:
        self._parser = parser
        self._nodes = 0
        self.line = 1

    def values(self) -> Iterator[tuple[object, int, int]]:
        """Yield the items of lists and the documents, with their lines."""
        while (event := self._next()) is not None:
            if isinstance(event, yaml.DocumentStartEvent):
                self._nodes = 0
                first = self._next()
                line = self.line
                if isinstance(first, yaml.MappingStartEvent):
                    yield from self._root(line)
                else:
                    yield self._value(first, 0), line, self.line

    def _root(self, line: int) -> Iterator[tuple[object, int, int]]:
        head: dict[str, Any] = {}
        listed = False
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._key(event)
            event = self._next()
            if key == "items" and isinstance(event, yaml.SequenceStartEvent):
                listed = True
                yield from self._items(head)
            else:
                head[key] = self._value(event, 1)
        if not listed:
            yield head, line, self.line

    def _items(
        self, head: dict[str, Any]
    ) -> Iterator[tuple[object, int, int]]:
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            self._nodes = 0
            line = self.line
            item = self._value(event, 2)
            kind = str(head.get("kind") or "").removesuffix("List")
            if isinstance(item, dict) and kind and not item.get("kind"):
                item |= {"kind": kind, "apiVersion": head.get("apiVersion")}
            yield item, line, self.line

    def _next(self) -> Any:
        event = self._parser.get_event()
        if event is not None:
            self.line = event.start_mark.line + 1
            self._nodes += 1
            if self._nodes > NODES_MAX:
                msg = f"a document has more than {NODES_MAX:,} values"
                raise _RefusedError(msg)
        return event

    def _key(self, event: Any) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            msg = "a key is not a text"
            raise _RefusedError(msg)
        return str(event.value)

    def _value(self, event: Any, depth: int) -> object:
        if depth > DEPTH_MAX:
            msg = f"it is nested more than {DEPTH_MAX} deep"
            raise _RefusedError(msg)
        if getattr(event, "anchor", None) is not None:
            msg = "it has anchors and aliases"
            raise _RefusedError(msg)
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            values = []
            while not isinstance(one := self._next(), yaml.SequenceEndEvent):
                values.append(self._value(one, depth + 1))
            return values
        if isinstance(event, yaml.MappingStartEvent):
            found = {}
            while not isinstance(one := self._next(), yaml.MappingEndEvent):
                key = self._key(one)
                found[key] = self._value(self._next(), depth + 1)
            return found
        msg = "it ends too early"
        raise _RefusedError(msg)


def _scalar(event: Any) -> object:
    """Return a scalar; what is quoted is a text."""
    text = str(event.value)
    if not event.implicit[0]:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INT.match(text):
        return int(text)
    if _FLOAT.match(text) and not text.isdecimal():
        number = float(text)
        return number if math.isfinite(number) else text
    return text
