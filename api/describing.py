"""Descriptions of the schema are the docstrings of the code.

A type's description is its docstring, a field's the text underneath it, a
resolver's its own docstring. So what a reader of the code and a reader of the
schema are told is one text, kept once.
"""

import ast
import inspect
from collections.abc import Callable, Iterator
from enum import Enum
from textwrap import dedent
from typing import Any, TypeVar, dataclass_transform

import strawberry

__all__ = ["described", "described_enum"]

Described = TypeVar("Described", bound=type)
DescribedEnum = TypeVar("DescribedEnum", bound=type[Enum])


@dataclass_transform(
    kw_only_default=True, field_specifiers=(strawberry.field,)
)
def described(cls: Described) -> Described:
    """Make a GraphQL type of a class, described by its docstrings."""
    texts = dict(_texts(cls))
    made = strawberry.type(cls, description=_flat(cls.__doc__))
    definition: Any = made
    for field in definition.__strawberry_definition__.fields:
        resolver = field.base_resolver
        if resolver is not None:
            texts.setdefault(
                field.python_name, resolver.wrapped_func.__doc__ or ""
            )
        if field.description is None:
            field.description = _flat(texts.get(field.python_name))
    return made


def described_enum(
    name: str | None = None, description: str | None = None
) -> Callable[[DescribedEnum], DescribedEnum]:
    """Make a GraphQL enum of a class, described by its docstrings."""

    def describe(cls: DescribedEnum) -> DescribedEnum:
        texts = dict(_texts(cls))
        made = strawberry.enum(
            cls, name=name, description=description or _flat(cls.__doc__)
        )
        definition: Any = made
        for value in definition.__strawberry_definition__.values:
            # Names are the contract's words, whatever the code calls them.
            value.description = _flat(texts.get(value.name))
            value.name = str(value.value).upper().replace("-", "_")
        return made

    return describe


def _texts(cls: type) -> Iterator[tuple[str, str]]:
    """Yield the texts underneath the attributes of a class, by name."""
    tree = ast.parse(dedent(inspect.getsource(cls)))
    body = tree.body[0]
    assert isinstance(body, ast.ClassDef), "the source of a class"
    for field, below in zip(body.body, body.body[1:], strict=False):
        match field, below:
            case (
                (
                    ast.AnnAssign(target=ast.Name(id=name))
                    | ast.Assign(targets=[ast.Name(id=name)])
                ),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, text
            case _:
                pass


def _flat(text: str | None) -> str | None:
    """Return a docstring as paragraphs without the code's line breaks."""
    if not text:
        return None
    text = text.replace("``", "`")
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in paragraphs)
