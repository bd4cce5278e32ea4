"""Lists of plain objects, completed column by column.

graphql-core resolves and completes each field of each item on its own, which
takes most of the time of a long answer. If all selected fields of the objects
are attributes, each field is completed for all objects at once. On a null
where none is allowed, or a value of another type, the result is discarded and
graphql-core completes the list, so that errors, with their texts and paths,
are those of graphql-core.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from enum import Enum
from functools import lru_cache, partial
from itertools import chain, islice
from operator import attrgetter
from types import GeneratorType, NoneType
from typing import Any
from weakref import proxy

import orjson
from graphql import (
    GRAPHQL_MAX_INT,
    GRAPHQL_MIN_INT,
    GraphQLBoolean,
    GraphQLField,
    GraphQLID,
    GraphQLInt,
    GraphQLLeafType,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLString,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
    is_object_type,
)
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetailsList
from graphql.pyutils import UndefinedType
from graphql.type import GraphQLResolveInfoHelpers
from msgspec import UNSET, UnsetType
from strawberry.schema.schema_converter import (
    CustomGraphQLEnumType,
    GraphQLCoreConverter,
)
from strawberry.types.field import StrawberryField

from api.resolvers.types.scalars import attribute
from recorder.model.moment import FIRST, written
from recorder.model.reference import EntryName

Values = Sequence[Any]
Column = Callable[[Values], Values]
"""Completion of lists of plain objects, column by column."""

LISTS = {list, tuple}
TYPE_NAME = "__typename"
NO_FRACTION = ".000000Z"
WRITTEN = len(written(FIRST))
WHOLE = WRITTEN - len(NO_FRACTION) + 1
"""The length of a time of a whole second, as orjson writes it."""


class _SurpriseError(Exception):
    """A value that graphql-core must complete."""


class ColumnExecutor(Executor[Any]):
    """Executes as graphql-core does, with plain objects by columns."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._columns: dict[tuple[int, ...], Column | None] = {}
        # graphql-core's helpers refer to the executor that refers to them: it
        # would stay in memory, with all its results, until the collector
        # reaches the oldest generation. A bound method of the proxy would
        # refer to it too; a function of the class does not.
        this = proxy(self)
        self.async_helpers = GraphQLResolveInfoHelpers(
            gather=partial(Executor.gather_async_work, this),
            track=partial(Executor.track_async_work, this),
        )

    def complete_iterable_value(
        self,
        item_type: GraphQLOutputType,
        field_details_list: FieldDetailsList,
        info: Any,
        path: Any,
        items: Iterable[Any],
        position_context: Any,
    ) -> Any:
        """Complete a list, by columns if possible."""
        if type(items) is list:
            values = self._completed(item_type, field_details_list, items)
            if values is not None:
                return values
        return super().complete_iterable_value(
            item_type, field_details_list, info, path, items, position_context
        )

    def complete_object_value(
        self,
        return_type: GraphQLObjectType,
        field_details_list: FieldDetailsList,
        info: Any,
        path: Any,
        result: Any,
        position_context: Any,
    ) -> Any:
        """Complete an object, by columns if possible."""
        values = self._completed(return_type, field_details_list, [result])
        if values is not None:
            return values[0]
        return super().complete_object_value(
            return_type,
            field_details_list,
            info,
            path,
            result,
            position_context,
        )

    @staticmethod
    def complete_leaf_value(return_type: GraphQLLeafType, result: Any) -> Any:
        """Complete a value, which may be the name of an entry."""
        if type(result) is EntryName and return_type is GraphQLID:
            return str(result)
        return Executor.complete_leaf_value(return_type, result)

    def _completed(
        self,
        item_type: GraphQLOutputType,
        selected: FieldDetailsList,
        items: list[Any],
    ) -> list[Any] | None:
        # By nodes of the query, which do not change: the events of a
        # subscription share these columns, and each collects its fields again.
        place = id(item_type), *(id(one.node) for one in selected)
        if place not in self._columns:
            self._columns[place] = self._column(item_type, selected)
        column = self._columns[place]
        if column is None:
            return None
        try:
            return list(column(items))
        except Exception:  # noqa: BLE001 - graphql-core raises it again
            return None

    def _column(
        self, type_: GraphQLOutputType, selected: FieldDetailsList
    ) -> Column | None:
        """Return the completion of a type; None if not possible by columns."""
        if is_non_null_type(type_):
            column = self._column(type_.of_type, selected)
            return None if column is None else _required(column)
        if is_list_type(type_):
            column = self._column(type_.of_type, selected)
            return None if column is None else _lists(column)
        if is_leaf_type(type_):
            return _leaves(type_)
        if is_object_type(type_) and type_.is_type_of is None:
            return self._objects(type_, selected)
        return None

    def _objects(
        self, type_: GraphQLObjectType, selected: FieldDetailsList
    ) -> Column | None:
        names, columns = [], []
        fields = self.collect_subfields(type_, selected).grouped_field_set
        for name, details in fields.items():
            wanted = details[0].node.name.value
            column: Column | None = None
            if wanted == TYPE_NAME:
                column = _always(type_.name)
            elif get := _getter(type_.fields[wanted]):
                within = self._column(type_.fields[wanted].type, details)
                column = within and _of(get, within)
            if column is None:
                return None
            names.append(name)
            columns.append(column)
        return _rows(names, columns)


def _getter(field: GraphQLField) -> Callable[[Any], Any] | None:
    """Return a function from an object to the value of a field.

    It reads an attribute, or is a resolver whose only argument is the object;
    None for any other resolver.
    """
    known = field.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
    if not isinstance(known, StrawberryField):
        return None
    resolver = known.base_resolver
    if resolver is not None:
        is_alone = len(resolver.signature.parameters) == 1
        if resolver.parent_parameter is None or not is_alone:
            return None
        if known.is_async or known.extensions:
            return None
        function: Any = resolver.wrapped_func
        get: Callable[[Any], Any] = getattr(function, "__func__", function)
        return get
    if (
        known.is_basic_field
        and known.default_resolver is attribute
        and getattr(field.resolve, "_is_default", False)
    ):
        return attrgetter(known.python_name)
    return None


def _of(get: Callable[[Any], Any], column: Column) -> Column:
    return lambda objects: column(list(map(get, objects)))


def _always(value: Any) -> Column:
    return lambda objects: [value] * len(objects)


def _rows(names: Sequence[str], columns: Sequence[Column]) -> Column:
    def rows(objects: Values) -> Values:
        return [
            dict(zip(names, row, strict=True))
            for row in zip(*(c(objects) for c in columns), strict=True)
        ]

    return _present(rows if names else lambda objects: [{} for _ in objects])


def _lists(column: Column) -> Column:
    def lists(values: Values) -> Values:
        if not set(map(type, values)) <= LISTS:
            raise _SurpriseError
        items = iter(column(list(chain.from_iterable(values))))
        return [list(islice(items, len(value))) for value in values]

    return _present(lists)


def _required(column: Column) -> Column:
    def required(values: Values) -> Values:
        if NoneType in set(map(type, values)):
            raise _SurpriseError
        return column(values)

    return required


def _present(column: Column) -> Column:
    """Complete the values that are not null."""

    def present(values: Values) -> Values:
        types = set(map(type, values))
        if UnsetType in types:
            values = [None if v is UNSET else v for v in values]
            types = set(map(type, values))
        if not all(map(_is_value, types)):
            raise _SurpriseError
        if NoneType not in types:
            return column(values)
        present = iter(column([v for v in values if v is not None]))
        return [None if v is None else next(present) for v in values]

    return present


@lru_cache(500)
def _is_value(type_: type) -> bool:
    """Return whether graphql-core uses values of a type as they are."""
    return not (
        issubclass(type_, (Exception, GeneratorType, UndefinedType))
        or hasattr(type_, "__await__")
    )


@lru_cache(100)
def _leaves(type_: GraphQLLeafType) -> Column:
    """Return the completion of a scalar or an enum."""
    column = _coerced(type_.coerce_output_value)
    if type_ is GraphQLString:
        column = _unless({str}, column)
    elif type_ is GraphQLID:
        column = _unless({str}, _identifiers(column))
    elif type_ is GraphQLInt:
        column = _numbers(column)
    elif type_ is GraphQLBoolean:
        column = _unless({bool}, column)
    elif type_.coerce_output_value is written:
        column = _times(column)
    elif isinstance(type_, CustomGraphQLEnumType):
        column = _names(type_, column)
    return _present(column)


def _coerced(coerce: Callable[[Any], Any]) -> Column:
    def coerced(values: Values) -> Values:
        found = list(map(coerce, values))
        if not {NoneType, UndefinedType}.isdisjoint(map(type, found)):
            raise _SurpriseError
        return found

    return coerced


def _unless(types: set[type], column: Column) -> Column:
    """Convert values unless all are of types that need no conversion."""
    return lambda values: (
        values if set(map(type, values)) <= types else column(values)
    )


def _identifiers(column: Column) -> Column:
    """Convert names of entries, which graphql-core does not know, to text."""
    return lambda values: column(
        [str(one) if type(one) is EntryName else one for one in values]
    )


def _numbers(column: Column) -> Column:
    def completed(values: Values) -> Values:
        if set(map(type, values)) == {int}:
            least, most = min(values), max(values)
            if least >= GRAPHQL_MIN_INT and most <= GRAPHQL_MAX_INT:
                return values
        return column(values)

    return completed


def _names(type_: CustomGraphQLEnumType, column: Column) -> Column:
    cls = type_.wrapped_cls
    members: Iterable[Enum] = cls.__members__.values()
    names = {one: type_.coerce_output_value(one) for one in members}

    def completed(values: Values) -> Values:
        if set(map(type, values)) <= {cls}:
            return [names[value] for value in values]
        return column(values)

    return completed


def _times(column: Column) -> Column:
    """Write many times at once, ten times faster than one by one.

    Times that orjson writes in another form, as of another zone, are
    recognized by their length.
    """

    def completed(values: Values) -> Values:
        if set(map(type, values)) != {datetime}:
            return column(values)
        texts = orjson.loads(orjson.dumps(values, option=orjson.OPT_UTC_Z))
        return [
            text
            if len(text) == WRITTEN
            else text[:-1] + NO_FRACTION
            if len(text) == WHOLE
            else written(value)
            for text, value in zip(texts, values, strict=True)
        ]

    return completed
