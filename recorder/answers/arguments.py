"""The arguments of a question, each described once.

A question is a dataclass, or a function that returns one. A field that the
user sets is annotated with its ``Argument``, or with ``Arguments`` if several
values make it. The options of a command, the arguments of a GraphQL field and
those of an agent's tool are generated from them, and ``read`` builds the
question from the values. If the three describe an argument in different
words, it has all of them.
"""

import inspect
from collections.abc import (
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, is_dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import (
    Annotated,
    Generic,
    ParamSpec,
    get_args,
    get_origin,
)

from recorder.answers.naming import Reference
from recorder.model.errors import ConfigError
from recorder.model.place import Place
from recorder.model.window import TimeError, Window, parse_time

Values = ParamSpec("Values")

Asks = Callable[..., object]  # type: ignore[explicit-any]
"""The class of a question, or a function that returns one."""


class Newest(int):
    """A limit: how many of the newest items to return."""


@dataclass(frozen=True, slots=True)
class Option:
    """An argument on the command line."""

    help: str = ""
    flags: tuple[str, ...] = ()
    """Empty for a positional argument."""

    metavar: str | None = None
    names: str | None = None
    """What the shell completes: nodes, objects, racks or labels."""

    between: tuple[int, int] | None = None
    """The smallest and the largest valid number."""

    default: object = None
    once: bool = False
    """Whether it takes one value although the argument takes many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument of a question.

    An interface for which it has no description does not offer it.
    """

    name: str = ""
    """Empty for the name of the field that it describes."""

    takes: type = str
    many: bool = False
    most: int = 100
    """How many values an agent may pass, if it takes many."""

    null: bool = False
    """Whether null is a valid item of the list in GraphQL."""

    required: bool = False
    parse: Callable[[str], object] | None = None
    """Parses the value from text."""

    option: Option | None = None
    graphql: str | None = None
    """Describes the argument of a GraphQL field."""

    graphql_name: str | None = None
    """Its name in GraphQL, if different."""

    agents: str | None = None
    """Describes the argument of an agent's tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How the values of a question were passed, and how to read them."""

    now: datetime
    window: Callable[[datetime | None, datetime | None], Window]
    spelled: Callable[[Argument], str] = lambda one: one.name
    """Returns the name of an argument in messages."""

    assumed: Callable[[str], None] | None = None
    """Called with a note when a time without a zone is taken as UTC."""

    def value(self, one: Argument, given: object) -> object:
        """Return the value of an argument.

        Raises:
            ConfigError: it is not valid.
        """
        if one.takes is datetime and isinstance(given, str):
            return parse_time(
                given,
                now=self.now,
                name=self.spelled(one),
                assumed=self.assumed,
            )
        parse = one.parse
        if parse is None and issubclass(one.takes, StrEnum):
            parse = one.takes
        match given:
            case list() | tuple():
                return tuple(given if parse is None else map(parse, given))
            case str():
                value = given if parse is None else parse(given)
                return (value,) if one.many else value
            case _:
                return given


@dataclass(frozen=True, slots=True)
class Arguments(Generic[Values]):
    """Several arguments that together make one value."""

    arguments: tuple[Argument, ...]
    make: Callable[Values, object]
    """Called with the ``Asking`` and the value of each argument, or None."""


def arguments_of(asks: Asks) -> Iterator[Argument]:
    """Yield the arguments of a question, in order."""
    for _, described in _described(asks):
        match described:
            case Argument():
                yield described
            case Arguments():
                yield from described.arguments
            case type():
                yield from arguments_of(described)
            case _:
                pass


@cache
def _described(asks: Asks) -> Sequence[tuple[str, object]]:
    """Return the description, or else the class, of each field.

    Cached: inspecting a signature takes longer than reading a request.
    """
    found: list[tuple[str, object]] = []
    for name, parameter in inspect.signature(asks).parameters.items():
        annotation = parameter.annotation
        if get_origin(annotation) is Annotated:
            for described in get_args(annotation)[1:]:
                if isinstance(described, Argument):
                    named = described.name or name
                    found.append((name, replace(described, name=named)))
                elif isinstance(described, Arguments):
                    found.append((name, described))
        elif (
            isinstance(annotation, type)
            and is_dataclass(annotation)
            and any(arguments_of(annotation))
        ):
            found.append((name, annotation))
    return found


def read(
    asks: Asks,
    given: Mapping[str, object],
    asking: Asking,
    **fixed: object,
) -> object:
    """Return a question made from the values of its arguments.

    Raises:
        ConfigError: a value is not valid, or values exclude each other.
    """
    values: dict[str, object] = {}
    for name, described in _described(asks):
        if name in fixed:
            continue
        match described:
            case Argument():
                value = asking.value(described, given.get(described.name))
                if value is not None:
                    values[name] = value
            case Arguments():
                values[name] = described.make(
                    asking,
                    *(
                        asking.value(one, given.get(one.name))
                        for one in described.arguments
                    ),
                )
            case type():
                values[name] = read(described, given, asking)
            case _:
                pass
    return asks(**values | fixed)


SINCE = Argument(
    name="since",
    takes=datetime,
    option=Option(
        "From this time on: 2026-11-21T03:18:00Z, or an age: 2h.",
        ("--since",),
    ),
    graphql="Start of the window, inclusive.",
    agents="From this time on, inclusive: RFC 3339 with a zone,"
    " or an age such as 90s, 2h, 3d.",
)

UNTIL = Argument(
    name="until",
    takes=datetime,
    option=Option(
        "End of the window (exclusive): a time or an age.", ("--until",)
    ),
    graphql="End of the window, exclusive. Default: now, or the end of a"
    " tape.",
    agents="Before this time, as since. Default: the end.",
)

WINDOW = Arguments(
    (SINCE, UNTIL), lambda asking, since, until: asking.window(since, until)
)

INCIDENT_AT = Argument(
    name="at",
    takes=datetime,
    option=Option(
        "Explain what was happening at this time, or last before it.",
        ("--at",),
    ),
    graphql="As of this time. Default: the newest.",
    agents="What happened at this time, or last before it.",
)

VERSION_AT = Argument(
    name="at",
    takes=datetime,
    option=Option(
        "As of this time: 2026-11-21T03:18:00Z, or an age: 2h."
        " Default: the newest version.",
        ("--at",),
    ),
    graphql="As of this time. Default: the newest.",
    graphql_name="time",
    agents="As it was at this time. Default: as it is now.",
)

NODES_AT = Argument(
    name="at",
    takes=datetime,
    option=Option(
        "As of this time: 2026-11-21T03:18:00Z, or an age: 2h."
        " Default: the end of the record.",
        ("--at",),
    ),
    graphql="As of this time. Default: the newest.",
)


def rack_argument(option: str, agents: str | None = None) -> Argument:
    """Return the argument that selects nodes by rack."""
    return Argument(
        name="rack",
        option=Option(option, ("--rack",), "RACK", "racks"),
        graphql="Value of a label that names a rack or a switch.",
        agents=agents,
    )


def place_argument(option: str, agents: str | None = None) -> Argument:
    """Return the argument that selects nodes by what they are behind."""
    return Argument(
        name="place",
        parse=read_place,
        option=Option(option, ("--place",), "KIND/NAME", "places"),
        graphql="What they are behind, as `KIND/NAME`, such as"
        " `switch/leaf-7` or `rack/r7`.",
        agents=agents,
    )


def read_place(text: str) -> Place:
    """Read a place.

    Raises:
        PlaceError: it is none.
    """
    try:
        return Place.parse(text)
    except ValueError as exc:
        raise PlaceError(str(exc)) from exc


class PlaceError(ConfigError):
    """The text names no place."""

    code = "question.place"


def labels_argument(
    option: str,
    *,
    graphql: str,
    agents: str | None = None,
    parse: Callable[[str], object] | None = None,
) -> Argument:
    """Return the argument that selects nodes by labels."""
    return Argument(
        name="labels",
        many=True,
        most=10,
        parse=parse,
        option=Option(option, ("-l", "--label"), "LABEL=VALUE", "labels"),
        graphql=graphql,
        agents=agents,
    )


def named_object(
    metavar: str = "OBJECT",
    *,
    namespace: str = "Namespace of the object.",
    graphql: str | None = None,
    agents: str = "",
    parse: Callable[[str, str | None], Reference] = Reference.parse,
) -> Arguments[[Asking, str, str | None]]:
    """Return the required arguments that name an object."""
    return Arguments(
        (
            Argument(
                name="object",
                takes=Reference,
                required=True,
                option=Option(metavar=metavar, names="objects"),
                graphql=graphql,
                graphql_name="name",
                agents=agents,
            ),
            Argument(
                name="namespace",
                option=Option(namespace, ("-n", "--namespace"), "NAMESPACE"),
                graphql=graphql and "Namespace of the object.",
            ),
        ),
        lambda _, text, namespace: parse(text, namespace),
    )


OBJECT = named_object()

NEWEST = Argument(
    name="limit", takes=Newest, agents="How many of the newest. Default: 50."
)

LIMIT = replace(
    NEWEST,
    option=Option(
        "Show only the newest N.", ("--limit",), "N|all", default=100
    ),
)

ALL_FIELDS = Argument(
    name="all_fields",
    takes=bool,
    option=Option(
        "Include managedFields, versions, generations and heartbeat times.",
        ("--all-fields",),
    ),
    graphql="Include insignificant changes, such as managedFields and"
    " resourceVersion.",
)


class AtOrWithin:
    """A question that names a moment or a window, not both.

    Raises:
        TimeError: it names both.
    """

    __slots__ = ()
    at: datetime | None
    window: Window

    def __post_init__(self) -> None:
        """Check the arguments."""
        if self.at is not None and self.window != Window():
            msg = "give either a moment or a window, not both"
            raise TimeError(msg)


def within(window: Annotated[Window, WINDOW]) -> Window:
    """Return the window: the question has no other argument."""
    return window
