"""JSONPath as kubectl's ``-o jsonpath=`` takes it, as far as it is needed.

``{.incidents[*].id}``, text between the braces, ``{range .x[*]}...{end}``,
indices, slices, ``..name`` and filters such as ``[?(@.cause=="gpu-fault")]``.
Scripts and arithmetic are no part of it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from recorder.cli.output import json_bytes
from recorder.errors import ConfigError

__all__ = ["JsonPathError", "path_values", "rendered"]

TEMPLATE = re.compile(r"\{((?:\"[^\"]*\"|'[^']*'|[^{}\"'])*)\}|([^{}]+)")
STEP = re.compile(
    r"\.\.(?P<deep>[\w-]+)|\.(?P<name>[\w-]+|\*)"
    r"|\[\?\(@(?P<left>[^=!<>)]*)(?P<op>==|!=)(?P<right>[^)]*)\)\]"
    r"|\[(?P<slice>-?\d*:-?\d*)\]|\[(?P<index>-?\d+|\*)\]"
    r"|\[['\"](?P<quoted>[^'\"]+)['\"]\]"
)
ESCAPES = {"\\n": "\n", "\\t": "\t", "\\\\": "\\"}
DEPTH_MAX = 8
"""Of ranges in each other."""


class JsonPathError(ConfigError):
    """An expression cannot be understood."""

    code = "question.jsonpath"


@dataclass(slots=True)
class _Range:
    """What is repeated for each value of a path."""

    path: str
    parts: "list[str | _Path | _Range]"


class _Path(NamedTuple):
    """What is replaced by the values of a path."""

    path: str


def rendered(template: str, document: object) -> str:
    """Return what a template makes of a document.

    Raises:
        JsonPathError: it is not understood.
    """
    if "{" not in template:
        template = f"{{{template}}}"
    return "".join(_said_of(_parsed(template), document, document))


def path_values(path: str, document: object) -> list[Any]:
    """Return what a path leads to.

    Raises:
        JsonPathError: it is not understood.
    """
    return _follow(path.strip().strip("{}"), document, document)


def _parsed(template: str) -> list[str | _Path | _Range]:
    """Return the parts of a template."""
    found = list(TEMPLATE.finditer(template))
    if "".join(part[0] for part in found) != template:
        raise _wrong(template, "its braces do not match")
    open_ranges = [_Range("", [])]
    for part in found:
        code, text = part[1], part[2]
        here = open_ranges[-1].parts
        if text is not None:
            here.append(_unescaped(text))
        elif code.strip() == "end" and len(open_ranges) > 1:
            open_ranges.pop()
        elif code.startswith("range ") and len(open_ranges) <= DEPTH_MAX:
            inner = _Range(code.removeprefix("range "), [])
            here.append(inner)
            open_ranges.append(inner)
        elif code[:1] in {'"', "'"}:
            here.append(_unescaped(code[1:-1]))
        else:
            here.append(_Path(code))
    if len(open_ranges) > 1:
        raise _wrong(template, "{range} without {end}")
    return open_ranges[0].parts


def _said_of(
    parts: Sequence[str | _Path | _Range], here: object, root: object
) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, _Path):
            found = _follow(part.path, here, root)
            yield " ".join(_said(value) for value in found)
        else:
            for value in _follow(part.path, here, root):
                yield from _said_of(part.parts, value, root)


def _unescaped(text: str) -> str:
    return re.sub(r"\\[nt\\]", lambda found: ESCAPES[found[0]], text)


def _said(value: object) -> str:
    if isinstance(value, str):
        return value
    return json_bytes(value, on_one_line=True).decode()


def _follow(path: str, here: object, root: object) -> list[Any]:
    path = path.strip()
    values: list[Any] = [root if path.startswith("$") else here]
    path = path.removeprefix("$").removeprefix("@")
    if path and path[0] not in ".[":
        path = f".{path}"
    place = 0
    while place < len(path):
        if path[place:] == ".":
            break
        found = STEP.match(path, place)
        if found is None:
            raise _wrong(path, f'"{path[place:]}" is not understood')
        step = partial(_step, found)
        values = [one for value in values for one in step(value)]
        place = found.end()
    return values


def _step(found: re.Match[str], value: object) -> Iterator[Any]:
    """Yield what one step of a path leads to."""
    parts = found.groupdict()
    name = parts["name"] or parts["quoted"]
    if parts["deep"] is not None:
        yield from _deep(parts["deep"], value)
    elif "*" in {name, parts["index"]}:
        yield from _all(value)
    elif name is not None:
        if isinstance(value, dict) and name in value:
            yield value[name]
    elif isinstance(value, list):
        yield from _some(parts, value)


def _some(parts: Mapping[str, str | None], value: list[Any]) -> Iterator[Any]:
    """Yield items of a list: one, a slice, or those that fit."""
    if parts["index"] is not None:
        index = int(parts["index"])
        if -len(value) <= index < len(value):
            yield value[index]
    elif parts["slice"] is not None:
        begin, _, end = parts["slice"].partition(":")
        first = int(begin) if begin else None
        yield from value[first : int(end) if end else None]
    else:
        yield from (one for one in value if _fits(parts, one))


def _fits(parts: Mapping[str, str | None], value: object) -> bool:
    wanted = (parts["right"] or "").strip().strip("'\"")
    found = _follow(parts["left"] or "", value, value)
    same = any(_said(one) == wanted for one in found)
    return same if parts["op"] == "==" else not same


def _all(value: object) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _deep(name: str, value: object) -> Iterator[Any]:
    if isinstance(value, dict) and name in value:
        yield value[name]
    for one in _all(value):
        yield from _deep(name, one)


def _wrong(path: str, why: str) -> JsonPathError:
    return JsonPathError(
        f'cannot use the JSONPath "{path}": {why}',
        advice="write it as for kubectl, as in {.incidents[*].id}",
    )
