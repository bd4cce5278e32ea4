"""GraphQL types made of the structs that are the answers.

A published struct is itself the type: resolvers are annotated with it and
return it, and its fields are read as attributes. A struct's name, its
docstring, its fields and the text under each are the type's; the types of
fields follow from theirs:

* an `EntryName` is an ``ID``; a sequence is a list
* a field that may be ``UNSET``, which JSON leaves out, may be null
* a field with another name in JSON has that name
* a field that JSON leaves out is left out, unless it is named

What GraphQL shows beyond that is written in a class that adds fields.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import strawberry
from msgspec import UnsetType
from strawberry.annotation import StrawberryAnnotation
from strawberry.types.base import StrawberryObjectDefinition
from strawberry.types.field import StrawberryField
from strawberry.utils.str_converters import to_camel_case

from api.resolvers.types.describing import flat, texts_of
from api.resolvers.types.scalars import Json
from recorder.model.document import is_left_out
from recorder.model.reference import EntryName


def publish(
    struct: type,
    *,
    name: str | None = None,
    adds: type | None = None,
    shows: Collection[str] = (),
    without: Collection[str] = (),
    order: Sequence[str] = (),
) -> None:
    """Publish a struct as the GraphQL type of its name.

    Args:
        struct: What is published, once: a msgspec struct, a dataclass or a
            named tuple.
        name: The name of the type where it is not that of the struct.
        adds: A class whose fields are added, or replace those of the struct:
            annotated attributes or properties that instances of the struct
            have, and static methods under ``strawberry.field`` that get the
            instance as a ``strawberry.Parent``; one that gets nothing else
            is as fast as an attribute. One that replaces a
            field has its name, and its text if it has none.
        shows: Fields that JSON leaves out and the schema shows.
        without: Fields of the struct that are left out.
        order: Fields that the schema lists one after the other where that is
            not their order with the added ones last: they come before the
            last that is named.

    Raises:
        TypeError: The order names what is no field, or one twice.
    """
    added = {} if adds is None else {f.python_name: f for f in _added(adds)}
    own = _fields(struct, shows, without, added)
    fields = {field.python_name: field for field in own} | added
    if order:
        if len({*order} & {*fields}) < len(order):
            msg = (
                f"cannot publish {struct.__name__}: its order has to name some"
                f" of {', '.join(sorted(fields))}, each once"
            )
            raise TypeError(msg)
        *moved, last = order
        names = [one for one in fields if one not in moved]
        place = names.index(last)
        names[place:place] = moved
        fields = {one: fields[one] for one in names}
    definition = StrawberryObjectDefinition(
        name=name or struct.__name__,
        is_input=False,
        is_interface=False,
        origin=struct,
        description=flat(struct.__doc__),
        interfaces=[],
        extend=False,
        directives=(),
        is_type_of=None,
        resolve_type=None,
        fields=[*fields.values()],
    )
    published: Any = struct
    published.__strawberry_definition__ = definition


def _fields(
    struct: type,
    shows: Collection[str],
    without: Collection[str],
    added: Mapping[str, StrawberryField],
) -> Iterator[StrawberryField]:
    """Yield the fields of a struct, in its order, with those that replace."""
    hints = get_type_hints(struct)
    texts = _texts(struct)
    names = getattr(struct, "__struct_fields__", (*hints,))
    encoded = getattr(struct, "__struct_encode_fields__", names)
    for python_name, written in zip(names, encoded, strict=True):
        if is_left_out(written) and python_name not in shows:
            continue
        if python_name in without:
            continue
        name = to_camel_case(written.lstrip("_"))
        if (instead := added.get(python_name)) is not None:
            text = flat(texts.get(python_name))
            instead.description = instead.description or text
            instead.graphql_name = instead.graphql_name or name
            yield instead
            continue
        yield StrawberryField(
            python_name=python_name,
            graphql_name=name,
            type_annotation=StrawberryAnnotation(_shown(hints[python_name])),
            origin=struct,
            description=flat(texts.get(python_name)),
        )


def _added(adds: type) -> Iterator[StrawberryField]:
    """Yield the fields that a class adds: attributes, then methods."""
    hints, texts = get_type_hints(adds), _texts(adds)
    for name, hint in hints.items():
        yield StrawberryField(
            python_name=name,
            type_annotation=StrawberryAnnotation(_shown(hint)),
            origin=adds,
            description=flat(texts.get(name)),
        )
    for field in vars(adds).values():
        if not isinstance(field, StrawberryField):
            continue
        if field.description is None and field.base_resolver is not None:
            field.description = flat(field.base_resolver.wrapped_func.__doc__)
        yield field


def _texts(kind: type) -> dict[str, str]:
    """Return the text under each field of a class and of those before it."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        if vars(one).get("__annotations__"):
            found |= texts_of(one.__module__).get(one.__name__, {})
    return found


def _shown(hint: Any) -> Any:
    """Return the type with which GraphQL shows a type of a field."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _shown(parts[0])
    if origin in {Union, UnionType}:
        kept = [part for part in parts if part not in {UnsetType, NoneType}]
        shown = [_shown(part) for part in kept]
        if len(kept) < len(parts):
            shown.append(NoneType)
        return Union[tuple(shown)]  # noqa: UP007 - of parts counted at runtime
    if origin is tuple and parts[1:] != (...,):
        msg = f"cannot publish {hint}: a pair needs a type of its own"
        raise TypeError(msg)
    if origin in {list, tuple, Sequence}:
        return list[_shown(parts[0])]  # type: ignore[misc]
    if hint is EntryName:
        return strawberry.ID
    if hint is object:
        return Json
    # What extends a published struct is shown as that struct.
    published = getattr(hint, "__strawberry_definition__", None)
    return hint if published is None else published.origin
