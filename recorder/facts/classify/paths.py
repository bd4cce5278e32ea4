"""Paths: where in a document a value is, as steps and as people write it.

A path reads as one of jq does, but for what picks an element of a list:

* ``status.phase`` is a field; ``metadata.labels["a.b/c"]`` one whose name is
  no plain word.
* ``spec.args[2]`` is an element by its place, from 0.
* ``status.conditions[type=Ready].status`` is an element by what names it
  among its neighbours, in jq ``.status.conditions[]|select(.type=="Ready")``.
  Two fields may be needed: ``spec.taints[key=gpu,effect=NoSchedule]``. A text
  that is no plain word is quoted; what is not quoted and looks like a
  number is one.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./:-]*")
"""A text that needs no quotes: it looks like no number."""

_VALUES = frozenset({"true", "false", "null"})


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a list, by the fields that name it among the others."""

    names: tuple[tuple[str, str | int], ...]

    def __str__(self) -> str:
        """Write it without the brackets."""
        return ",".join(f"{name}={_value(at)}" for name, at in self.names)


Step = str | int | Element
"""A field, an element by its place, or an element by what names it."""

Path = tuple[Step, ...]


def written_path(path: Sequence[Step]) -> str:
    """Write a path. Different paths are written differently."""
    text = "".join(map(_step, path))
    return text.removeprefix(".")


def _step(step: Step) -> str:
    match step:
        case str():
            if _WORD.fullmatch(step):
                return f".{step}"
            return f"[{json.dumps(step, ensure_ascii=False)}]"
        case int():
            return f"[{step}]"
        case Element():
            return f"[{step}]"


def _value(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    if _PLAIN.fullmatch(value) and value not in _VALUES:
        return value
    return json.dumps(value, ensure_ascii=False)
