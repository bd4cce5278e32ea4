"""Fields that ask a question of the registry.

The arguments of such a field are those of its question that have a GraphQL
description, then those of the resolver itself, then the cluster and the log.
The resolver gets the parsed question.
"""

import inspect
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Mapping,
)
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from inspect import Parameter, Signature
from typing import Annotated, Any, Generic, TypeVar

import strawberry
from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLResolveInfo,
    SelectionSetNode,
)

from api.resolvers.answers.paging import Page
from api.resolvers.answers.windows import window
from api.resolvers.context import Info, RequestContext
from api.resolvers.types.arguments import (
    After,
    Before,
    ClusterArgument,
    First,
    Last,
    LogArgument,
)
from api.resolvers.types.words import SourceName
from recorder.answers.arguments import (
    Argument,
    Asking,
    Asks,
    arguments_of,
    read,
)
from recorder.answers.ports import Reading
from recorder.answers.registry import QUESTIONS, Question
from recorder.model.reference import EntryName

Answer = TypeVar("Answer")
Put = TypeVar("Put")

FIRST = ("since", "until")
"""Arguments that come first in a field with pages."""

PAGE = {"first": First, "after": After, "last": Last, "before": Before}
"""Arguments of a field with pages."""

ENUMS: Mapping[str, Any] = {"source": SourceName}
"""Types of arguments that are text outside GraphQL."""


@dataclass(frozen=True, slots=True)
class Asked(Generic[Put]):
    """A question asked by a field."""

    info: Info
    asks: Question | None
    question: Put
    parent: Any
    """The value whose field is resolved."""

    place: tuple[str | None, str | None]
    """The cluster and the log that the arguments name."""

    @property
    def context(self) -> RequestContext:
        """What the request shares."""
        return self.info.context

    @property
    def fields(self) -> frozenset[str]:
        """The names of all fields that are selected, at any depth.

        A superset of what is answered: directives may skip some, and fields of
        several types may share a name.
        """
        # The selection that strawberry offers is slow.
        raw = self.info._raw_info  # noqa: SLF001
        return frozenset(
            name
            for node in raw.field_nodes
            for name in _below(node.selection_set, raw)
        )

    async def reading(self) -> Reading:
        """Open the log of the parent, of the question, or of the arguments.

        Raises:
            NotFoundError: there is no such log.
            ConfigError: several could be meant.
        """
        reading: Reading | None = getattr(self.parent, "reading", None)
        if reading is not None:
            return reading
        log: int | None = getattr(self.question, "log", None)
        if log is not None:
            return await self.context.reading(None, str(log))
        return await self.context.reading(*self.place)

    async def page(
        self, of: Callable[..., Awaitable[Answer]], page: Page
    ) -> Answer:
        """Return a page of a list, with what the selected fields need."""
        context, reading = self.context, await self.reading()
        return await of(context, reading, self.question, page, self.fields)

    async def answer(self, kind: type[Answer]) -> Answer:
        """Return the answer, which must be of this class.

        Raises:
            RecorderError: the question cannot be answered.
        """
        assert self.asks is not None, "the field names no question"
        context, reading = self.context, await self.reading()
        answer = await self.asks.answer(
            reading, self.question, context.knowledge, now=context.now
        )
        assert isinstance(answer, kind)
        return answer


def asks(
    question: "str | Asks | None" = None,
    *,
    of: Callable[[Any], Mapping[str, Any]] | None = None,
    without: Collection[str] = (),
    last: Collection[str] = (),
    opens: bool = False,
) -> Callable[[Callable[..., Any]], Any]:
    """Make a field of a resolver that answers a question.

    Args:
        question: its name; or its class, if the resolver answers it or returns
            an object with further fields. None: the resolver has only
            arguments of its own.
        of: returns the fields of the question that come from the parent,
            which has a log.
        without: names of arguments that the field does not take.
        last: names of arguments that come last.
        opens: whether the question itself names the log.
    """
    named = QUESTIONS[question] if isinstance(question, str) else None
    question_class = _made(question)
    has_log = of is not None or opens

    def decorate(resolve: Callable[..., Any]) -> Any:
        """Return a field that reads its question and passes it on."""
        signature = inspect.signature(resolve)
        _, *own = signature.parameters.values()
        is_paged = any(one.name == "page" for one in own)
        own = [one for one in own if one.name != "page"]
        assert not {one.name for one in own} & {"cluster", "log"}
        taken = _taken(question_class, without, last, paged=is_paged)

        async def field(self: Any, info: Info, **arguments: Any) -> Any:
            place = arguments.pop("cluster", None), arguments.pop("log", None)
            own_values = {one.name: arguments.pop(one.name) for one in own}
            if is_paged:
                own_values["page"] = Page.of(
                    *(arguments.pop(end) for end in PAGE)
                )
            read_question = read(
                question_class,
                arguments,
                Asking(now=info.context.now, window=window, spelled=_spelled),
                **({} if of is None else of(self)),
            )
            asked = Asked(info, named, read_question, self, place)
            return await resolve(asked, **own_values)

        field.__name__ = resolve.__name__
        field.__doc__ = resolve.__doc__
        # Strawberry makes the arguments of the schema from the signature.
        signed: Any = field
        signed.__signature__ = Signature(
            [
                _parameter("self"),
                _parameter("info", Info),
                *map(_argument, taken),
                *(_page() if is_paged else ()),
                *own,
                *(() if has_log else _log()),
            ],
            return_annotation=signature.return_annotation,
        )
        return strawberry.field(field)

    return decorate


def _made(question: "str | Asks | None") -> Asks:
    """Return the class or function that makes a question of arguments."""
    match question:
        case str():
            return QUESTIONS[question].asks
        case None:
            return _nothing
        case _:
            return question


def _taken(
    made: Asks, without: Collection[str], last: Collection[str], *, paged: bool
) -> list[Argument]:
    """Return the arguments of a question that a field takes, in order."""
    taken = [
        one
        for one in arguments_of(made)
        if one.graphql is not None and one.name not in without
    ]
    taken.sort(
        key=lambda one: (one.name in last, paged and one.name not in FIRST)
    )
    return taken


def _nothing() -> None:
    """Return None: no question."""


def _spelled(argument: Argument) -> str:
    return argument.graphql_name or argument.name


def _parameter(
    name: str, kind: Any = Parameter.empty, default: Any = Parameter.empty
) -> Parameter:
    return Parameter(
        name, Parameter.KEYWORD_ONLY, annotation=kind, default=default
    )


def _page() -> Iterator[Parameter]:
    for name, kind in PAGE.items():
        yield _parameter(name, kind, None)


def _log() -> Iterator[Parameter]:
    yield _parameter("cluster", ClusterArgument, None)
    yield _parameter("log", LogArgument, None)


def _argument(one: Argument) -> Parameter:
    """Return the resolver's parameter for an argument."""
    kind: Any = ENUMS.get(one.name, one.takes)
    if kind is EntryName:
        kind = strawberry.ID
    elif not issubclass(kind, datetime | int | StrEnum):
        kind = str
    if one.many:
        item = kind | None if one.null else kind
        kind = list[item]  # type: ignore[valid-type]
    default: Any = None
    if one.takes is bool:
        default = False
    elif one.required:
        default = Parameter.empty
    else:
        kind = kind | None
    words = strawberry.argument(description=one.graphql, name=one.graphql_name)
    return _parameter(one.name, Annotated[kind, words], default)


def _below(
    within: SelectionSetNode | None, info: "GraphQLResolveInfo[Any]"
) -> Iterator[str]:
    for node in within.selections if within else ():
        if isinstance(node, FragmentSpreadNode):
            fragment = info.fragments[node.name.value]
            yield from _below(fragment.selection_set, info)
            continue
        if isinstance(node, FieldNode):
            yield node.name.value
        yield from _below(getattr(node, "selection_set", None), info)
