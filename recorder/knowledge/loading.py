"""Reading the rules, the shipped ones and a site's own.

A file that is wrong is refused whole, with the line: a rule that never
matches because of a misspelt key would be worse than none.
"""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from stat import S_ISREG
from typing import Any

import msgspec
import yaml

from recorder.errors import ConfigError
from recorder.knowledge.asking import Knowledge
from recorder.knowledge.rules import Rules

__all__ = ["KnowledgeError", "load", "read_rules", "shipped", "shipped_files"]

BYTES_MAX = 1 << 20
"""Of a file; the largest that is shipped has a few thousand."""

NODES_MAX = 100_000
"""Of a document with its aliases written out: more than a file can hold that
somebody wrote."""

CANNOT_BE = (ValueError, LookupError, AttributeError, TypeError)
"""What the library lets through, of a date that does not exist."""


class KnowledgeError(ConfigError):
    """A file of rules cannot be used."""

    code = "knowledge.invalid"


@cache
def shipped() -> Knowledge:
    """Return the rules that come with the package."""
    return Knowledge(shipped_files().values())


def load(site: Sequence[str | Path] = ()) -> Knowledge:
    """Return a site's rules before the shipped ones.

    Raises:
        KnowledgeError: a file cannot be read, or is wrong; the message has
            its name and line.
    """
    if not site:
        return shipped()
    return Knowledge(
        shipped_files().values(), [_read_file(Path(f)) for f in site]
    )


def shipped_files() -> dict[str, Rules]:
    """Return the files of rules that come with the package, by their names."""
    folder = files("recorder.knowledge")
    found = [f for f in folder.iterdir() if f.name.endswith(".yaml")]
    return {
        file.name: read_rules(file.read_text(), name=file.name)
        for file in sorted(found, key=lambda file: file.name)
    }


def _read_file(path: Path) -> Rules:
    """Read a file that anybody may have put there: a pipe would never end."""
    name = str(path)
    try:
        found = path.stat()
        if not S_ISREG(found.st_mode):
            raise _unreadable(name, "it is not a regular file")
        if found.st_size > BYTES_MAX:
            raise _unreadable(name, f"it has more than {BYTES_MAX:,} bytes")
        content = path.read_bytes()
    except OSError as exc:
        raise _unreadable(name, exc.strerror or str(exc)) from exc
    try:
        text = content.decode()
    except UnicodeDecodeError as exc:
        line = content.count(b"\n", 0, exc.start) + 1
        raise _unreadable(name, "it is not UTF-8", line=line) from exc
    return read_rules(text, name=name)


def _unreadable(
    name: str, why: str, *, line: int | None = None
) -> KnowledgeError:
    where = "" if line is None else f", line {line}"
    return KnowledgeError(f'cannot read the rules in "{name}"{where}: {why}')


def read_rules(text: str, *, name: str) -> Rules:
    """Read one file of rules.

    Raises:
        KnowledgeError: it is wrong; the message has its name and line.
    """
    root, made = _read_yaml(text, name)
    try:
        rules = msgspec.convert(made or {}, Rules)
    except msgspec.ValidationError as exc:
        line = _line_of(root, str(exc))
        msg = f'cannot use the rules in "{name}", line {line}: {exc}'
        raise KnowledgeError(msg) from exc
    _refuse_contradictions(rules, root, name)
    return rules


def _read_yaml(text: str, name: str) -> tuple[yaml.Node | None, Any]:
    """Return the document, and what is made of it.

    Few lines of YAML can stand for billions, or for themselves: what is
    counted before anything is made of it may be so large and no larger.
    """
    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if root is None:
            return None, None
        if _written_out(root, {}) > NODES_MAX:
            raise _unreadable(name, "its aliases expand to too many values")
        _refuse_duplicates(root, name)
        return root, loader.construct_document(root)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        line = None if mark is None else mark.line + 1
        why = exc.problem or str(exc)
        raise _unreadable(name, why, line=line) from exc
    except yaml.reader.ReaderError as exc:
        line = text.count("\n", 0, exc.position) + 1
        raise _unreadable(name, exc.reason, line=line) from exc
    except RecursionError as exc:
        raise _unreadable(name, "it is nested too deep") from exc
    except CANNOT_BE as exc:
        why = f"it has an invalid value: {exc}"
        raise _unreadable(name, why) from exc


def _written_out(node: yaml.Node, known: dict[int, int]) -> int:
    """Count the parts of a document with all its aliases written out."""
    if id(node) not in known:
        known[id(node)] = NODES_MAX + 1  # should it be a part of itself
        parts: Sequence[yaml.Node] = ()
        if isinstance(node, yaml.MappingNode):
            parts = [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            parts = node.value
        known[id(node)] = 1 + sum(_written_out(p, known) for p in parts)
    return known[id(node)]


def _refuse_duplicates(node: yaml.Node | None, name: str) -> None:
    """YAML lets the last of two equal keys win; here it is a mistake."""
    if isinstance(node, yaml.MappingNode):
        known: dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            line = key.start_mark.line + 1
            if key.value in known:
                msg = (
                    f'cannot use the rules in "{name}", line {line}:'
                    f' duplicate key "{key.value}", first in line'
                    f" {known[key.value]}"
                )
                raise KnowledgeError(msg)
            known[key.value] = line
            _refuse_duplicates(value, name)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_duplicates(item, name)


def _refuse_contradictions(
    rules: Rules, root: yaml.Node | None, name: str
) -> None:
    """Refuse one literal with two meanings within a file."""
    known: dict[str, int] = {}
    for place, rule in enumerate(rules.conditions):
        line = _line_at(root, ["conditions", place])
        if rule.when not in {"True", "False", "Unknown"}:
            msg = (
                f'cannot use the rules in "{name}", line {line}:'
                f' "{rule.when}" is not a status; write "True", "False" or'
                ' "Unknown", with quotation marks'
            )
            raise KnowledgeError(msg)
        for condition in rule.types:
            if condition in known:
                msg = (
                    f'cannot use the rules in "{name}", line {line}: the'
                    f' condition "{condition}" has a rule in line'
                    f" {known[condition]} already"
                )
                raise KnowledgeError(msg)
            known[condition] = line


_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


def _line_of(root: yaml.Node | None, error: str) -> int:
    """Find the line that an error of msgspec is about, by its path."""
    _, _, path = error.rpartition("`$")
    steps: list[str | int] = [
        name or int(number) for name, number in _STEP.findall(path.rstrip("`"))
    ]
    unknown = re.search(r"unknown field `(\w+)`", error)
    if unknown is not None:
        steps.append(unknown[1])
    return _line_at(root, steps)


def _line_at(node: yaml.Node | None, steps: Sequence[str | int]) -> int:
    line = 1
    for step in steps:
        found: Any = None
        if isinstance(node, yaml.MappingNode):
            pair = next((p for p in node.value if p[0].value == step), None)
            if pair is not None:
                line, found = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            found = node.value[step]
            line = found.start_mark.line + 1
        if found is None:
            break
        node = found
    return line
