"""Takes the descriptions of the schema from the docstrings of the code.

A type's description is its docstring, a field's the text underneath it, a
resolver's its own docstring. So readers of the code and of the schema read
the same text.
"""

import ast
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any, TypeVar, dataclass_transform

import strawberry

Described = TypeVar("Described", bound=type)
DescribedEnum = TypeVar("DescribedEnum", bound=type[Enum])


@dataclass_transform(
    kw_only_default=True, field_specifiers=(strawberry.field,)
)
def described(cls: Described) -> Described:
    """Return a GraphQL type of a class, described by its docstrings."""
    texts = {**texts_of(cls.__module__)[cls.__name__]}
    made = strawberry.type(cls, description=flat(cls.__doc__))
    definition: Any = made
    for field in definition.__strawberry_definition__.fields:
        resolver = field.base_resolver
        if resolver is not None:
            texts.setdefault(
                field.python_name, resolver.wrapped_func.__doc__ or ""
            )
        if field.description is None:
            field.description = flat(texts.get(field.python_name))
    return made


def described_enum(
    name: str | None = None, description: str | None = None
) -> Callable[[DescribedEnum], DescribedEnum]:
    """Make a GraphQL enum of a class, described by its docstrings."""

    def describe(cls: DescribedEnum) -> DescribedEnum:
        texts = {**texts_of(cls.__module__)[cls.__name__]}
        made = strawberry.enum(
            cls, name=name, description=description or flat(cls.__doc__)
        )
        definition: Any = made
        for value in definition.__strawberry_definition__.values:
            # Names are the contract's words, whatever the code calls them.
            value.description = flat(texts.get(value.name))
            value.name = str(value.value).upper().replace("-", "_")
        return made

    return describe


@cache
def texts_of(module: str) -> Mapping[str, Mapping[str, str]]:
    """Return the texts of each class of a module.

    A module is parsed once: finding each class in its source took a quarter
    of a second at every start of the server.
    """
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {
        one.name: dict(_texts(one))
        for one in tree.body
        if isinstance(one, ast.ClassDef)
    }


def _texts(cls: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yield the texts underneath the attributes of a class, by name."""
    for field, below in zip(cls.body, cls.body[1:], strict=False):
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


def flat(text: str | None) -> str | None:
    """Return a docstring as paragraphs without the code's line breaks."""
    if not text:
        return None
    text = text.replace("``", "`")
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in paragraphs)
