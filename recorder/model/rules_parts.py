"""Converting parsed rules to types, and finding all their faults.

The library stops at the first fault and names types of Python; the author of
the file needs all of them, in terms of YAML.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import inspect

FAULTS_MAX = 100
"""Each needs another pass over everything."""

WORDS_SHOWN = 40
KINDS = {
    "object": "a mapping",
    "array": "a list",
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "nothing",
}
"""The types of YAML, by the library's names."""

Read = TypeVar("Read")
Steps = tuple[str | int, ...]

_STEP = re.compile(r"\.([\w-]+)|\[(\d+)\]")
_KIND = re.compile(r"`([\w ]+(?: \| [\w ]+)*)`")


class Fault(NamedTuple):
    """A part that is wrong."""

    steps: Sequence[str | int]
    """The keys and numbers that lead to it."""

    why: str


def read_parts(
    made: Any, kind: type[Read]
) -> tuple[Read | None, Sequence[Fault]]:
    """Convert plain values to a type; return the result, and every fault.

    A wrong part is removed from the values, so that the next one is found.
    """
    faults: list[Fault] = []
    taken: set[Steps] = set()
    while len(faults) < FAULTS_MAX:
        try:
            return msgspec.convert(made, kind), faults
        except msgspec.ValidationError as exc:
            error = str(exc)
        steps = _steps_of(error)
        placed = _as_written(steps, taken)
        if placed in taken:
            # It is missing because it was wrong, so its parent is wrong too.
            steps = steps[:-1]
        else:
            faults.append(Fault(placed, _why(error, steps, made, kind)))
        if not _take_out(made, steps, taken):
            break
    return None, faults


def _steps_of(error: str) -> Steps:
    """Return where a fault is, from the library's path."""
    _, _, path = error.rpartition("`$")
    steps: list[str | int] = [
        name or int(number) for name, number in _STEP.findall(path.rstrip("`"))
    ]
    named = re.search(r"(?:unknown|required) field `([\w-]+)`", error)
    if named is not None:
        steps.append(named[1])
    return tuple(steps)


def _as_written(steps: Steps, taken: Collection[Steps]) -> Steps:
    """Return where a part was before elements of lists were removed."""
    placed: Any = ()
    for step in steps:
        if isinstance(step, int):
            for gone in sorted(
                int(one[-1]) for one in taken if one[:-1] == placed
            ):
                step += gone <= step  # noqa: PLW2901 - it has moved up
        placed = (*placed, step)
    found: Steps = placed
    return found


def _take_out(made: Any, steps: Steps, taken: set[Steps]) -> bool:
    """Remove the key or the element with a fault, if there is one."""
    while steps:
        *above, last = steps
        part = _at(made, above)
        there = last in part if isinstance(part, dict) else bool(above)
        if there:
            taken.add(_as_written(steps, taken))
            del part[last]
            return True
        steps = tuple(above)
    return False


def _at(made: Any, steps: Sequence[str | int]) -> Any:
    for step in steps:
        made = made[step]
    return made


def _why(error: str, steps: Steps, made: Any, kind: type) -> str:
    """Describe a fault to the author of the file.

    Faults that can be described better than msgspec does are recognized by
    the beginnings of its messages; if those change, its own text is shown.
    """
    # The first two steps, a list and an index, are the rule: the line says
    # which one it is.
    keys = [one for one in steps[2:] if isinstance(one, str)]
    name = ".".join(keys or [one for one in steps if isinstance(one, str)])
    types = _types_at([inspect.type_info(kind)], steps)
    if error.startswith("Invalid enum value"):
        words = [
            str(word.value)
            for one in types
            if isinstance(one, inspect.EnumType)
            for word in one.cls
        ]
        return f"{name}: {_none_of(str(_at(made, steps)), words)}"
    if "unknown field" in error:
        fields = [
            field.encode_name
            for one in _types_at([inspect.type_info(kind)], steps[:-1])
            if isinstance(one, inspect.StructType)
            for field in one.fields
        ]
        return _none_of(str(steps[-1]), fields, "there is no")
    if "missing required field" in error:
        return f"{name} is missing"
    said = _KIND.sub(_named_kind, error.partition(" - at ")[0])
    return f"{name or 'the file'}: {said[0].lower()}{said[1:]}"


def _named_kind(found: re.Match[str]) -> str:
    return " or ".join(KINDS.get(word, word) for word in found[1].split(" | "))


def _none_of(word: str, words: Sequence[str], begin: str = "") -> str:
    """Report an unknown word, and a similar one if there is one."""
    said = f'{begin} "{word[:40]}"' if begin else f'"{word[:40]}" is unknown'
    near = get_close_matches(word, words, n=1)
    if near:
        return f'{said}; did you mean "{near[0]}"?'
    return f"{said}: use {', '.join(words[:WORDS_SHOWN])}"


def _types_at(
    types: Sequence[inspect.Type], steps: Steps
) -> Sequence[inspect.Type]:
    """Return the types that a part may have."""
    for step in steps:
        types = [
            inner for outer in _flat(types) for inner in _inner(outer, step)
        ]
    return list(_flat(types))


def _flat(types: Sequence[inspect.Type]) -> Iterator[inspect.Type]:
    for one in types:
        if isinstance(one, inspect.UnionType):
            yield from _flat(one.types)
        else:
            yield one


def _inner(outer: inspect.Type, step: str | int) -> Iterator[inspect.Type]:
    if isinstance(outer, inspect.StructType):
        for field in outer.fields:
            if field.encode_name == step:
                yield field.type
    elif isinstance(outer, inspect.DictType):
        yield outer.value_type
    elif isinstance(outer, inspect.CollectionType):
        yield outer.item_type
