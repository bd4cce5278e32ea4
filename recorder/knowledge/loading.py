"""Reading the rules, the shipped ones and a site's own.

A file that is wrong is refused whole, with the line: a rule that never
matches because of a misspelt key would be worse than none.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import yaml

from recorder.errors import ConfigError
from recorder.knowledge.asking import Knowledge
from recorder.knowledge.rules import Rules

__all__ = ["KnowledgeError", "load", "read_rules", "shipped"]


class KnowledgeError(ConfigError):
    """A file of rules cannot be used."""

    code = "knowledge.invalid"


@cache
def shipped() -> Knowledge:
    """Give the rules that come with the package."""
    return Knowledge(_shipped())


def load(site: Sequence[str | Path] = ()) -> Knowledge:
    """Give a site's rules before the shipped ones.

    Raises:
        KnowledgeError: a file cannot be read, or is wrong; the message has
            its name and line.
    """
    if not site:
        return shipped()
    return Knowledge([*(_read_file(Path(f)) for f in site), *_shipped()])


def _shipped() -> Iterator[Rules]:
    folder = files("recorder.knowledge")
    found = [f for f in folder.iterdir() if f.name.endswith(".yaml")]
    for file in sorted(found, key=lambda file: file.name):
        yield read_rules(file.read_text(), name=file.name)


def _read_file(path: Path) -> Rules:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        msg = f'cannot read the rules in "{path}": {exc}'
        raise KnowledgeError(msg) from exc
    return read_rules(text, name=str(path))


def read_rules(text: str, *, name: str) -> Rules:
    """Read one file of rules.

    Raises:
        KnowledgeError: it is wrong; the message has its name and line.
    """
    try:
        root = yaml.compose(text, yaml.SafeLoader)
        made = yaml.safe_load(text) or {}
    except yaml.YAMLError as exc:
        msg = f'cannot read the rules in "{name}": {exc}'
        raise KnowledgeError(msg) from exc
    _refuse_duplicates(root, name)
    try:
        rules = msgspec.convert(made, Rules)
    except msgspec.ValidationError as exc:
        line = _line_of(root, str(exc))
        msg = f'cannot use the rules in "{name}", line {line}: {exc}'
        raise KnowledgeError(msg) from exc
    _refuse_contradictions(rules, root, name)
    return rules


def _refuse_duplicates(node: yaml.Node | None, name: str) -> None:
    """YAML lets the last of two equal keys win; here it is a mistake."""
    if isinstance(node, yaml.MappingNode):
        known: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.value in known:
                msg = (
                    f'cannot use the rules in "{name}", line {line}:'
                    f' "{key.value}" is there twice, first in line'
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
                f'cannot use the rules in "{name}", line {line}: the status'
                f' "{rule.when}" is none; write "True", "False" or "Unknown",'
                " with quotation marks"
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
