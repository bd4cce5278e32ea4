"""Questions about entries and objects.

Without their answers, as `recorder/answers/node_questions.py` explains.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

from recorder.answers.arguments import (
    ALL_FIELDS,
    LIMIT,
    NODES_AT,
    OBJECT,
    VERSION_AT,
    WINDOW,
    Argument,
    Arguments,
    Asking,
    Option,
    named_object,
)
from recorder.answers.naming import Reference, did_you_mean, node_name
from recorder.model.entry import Operation
from recorder.model.errors import ConfigError
from recorder.model.fact import FactKind
from recorder.model.observation import AUDIT, CLOUDEVENTS, SLURM, WATCH
from recorder.model.reference import EntryName
from recorder.model.window import Window, parse_time


def entry_name(text: str) -> EntryName:
    """Parse the name of an entry.

    Raises:
        ConfigError: it is not one.
    """
    try:
        return EntryName.parse(text)
    except ValueError as exc:
        raise ConfigError(str(exc), code="question.entry") from exc


SOURCES = (WATCH, AUDIT, CLOUDEVENTS, SLURM, "recorder")
"""Sources that entries may come from."""


def object_named(text: str | None, namespace: str | None) -> Reference | None:
    """Parse the name of the object, if any.

    Raises:
        ConfigError: the name is malformed, or only a namespace is set.
    """
    if text is not None:
        return Reference.parse(text, namespace)
    if namespace is not None:
        msg = "a namespace is given, but no object in it"
        raise ConfigError(msg, advice="add --object", code="question")
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedQuestion:
    """Which entry to open."""

    entry: Annotated[
        EntryName,
        Argument(
            takes=EntryName,
            required=True,
            parse=entry_name,
            graphql="`LOG/POSITION`.",
            graphql_name="name",
        ),
    ]
    all_fields: Annotated[
        bool,
        replace(ALL_FIELDS, graphql="Include insignificant changes."),
    ] = False

    @property
    def log(self) -> int:
        """The log that the entry names."""
        return self.entry.log


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryQuestion:
    """Which entries to return."""

    entry: Annotated[
        EntryName | None,
        Argument(
            parse=entry_name,
            option=Option(metavar="[LOG/POSITION]"),
            agents="This one alone, as LOG/POSITION. No other filter.",
        ),
    ] = None
    """Only this one; other filters are ignored."""

    node: Annotated[
        str | None,
        Argument(
            parse=node_name,
            option=Option(
                "Only entries about this node, and requests about Pods on it.",
                ("--node",),
                "NAME",
            ),
            graphql="Only for this node.",
            agents="",
        ),
    ] = None
    object: Annotated[
        Reference | None,
        Arguments(
            (
                Argument(
                    name="object",
                    takes=Reference,
                    option=Option(
                        "Only versions of this object and Events about it:"
                        " pod/train/llm-0.",
                        ("--object",),
                    ),
                    graphql="Only for this object.",
                    agents="",
                ),
                Argument(
                    name="namespace",
                    option=Option(
                        "Namespace of the object.", ("-n", "--namespace")
                    ),
                ),
            ),
            lambda _, text, namespace: object_named(text, namespace),
        ),
    ] = None
    source: Annotated[
        str | None,
        Argument(
            option=Option("watch, audit, recorder, ...", ("--source",)),
            graphql="Only this source.",
            agents="watch, audit, cloudevents, slurm or recorder.",
        ),
    ] = None
    operations: Annotated[
        tuple[Operation, ...] | None,
        Argument(
            takes=Operation,
            many=True,
            graphql="Only these values.",
        ),
    ] = None
    """Operations of entries; None for all."""

    kinds: Annotated[
        tuple[FactKind, ...] | None,
        Argument(
            takes=FactKind,
            many=True,
            graphql="Only facts of these kinds.",
        ),
    ] = None
    """Kinds of facts; None for all."""

    reason: Annotated[
        str | None,
        Arguments(
            (
                Argument(
                    name="reason",
                    option=Option(
                        "Only Events with this reason.", ("--reason",), "WORD"
                    ),
                    graphql="Only Events with this reason.",
                    agents="Of Events, as Rebooted; of requests, their verb.",
                ),
                Argument(
                    name="verb",
                    option=Option(
                        "Only audited requests of this kind: patch,"
                        " create/eviction, ...",
                        ("--verb",),
                    ),
                ),
            ),
            lambda _, reason, verb: verb or reason,
        ),
    ] = None
    code: Annotated[
        int | None,
        Argument(
            takes=int,
            option=Option(
                "Only audited requests that were refused with this status:"
                " 403.",
                ("--code",),
                between=(400, 599),
            ),
            graphql="Only requests refused with this HTTP status code.",
            agents="With which requests were refused, as 403.",
        ),
    ] = None
    """Only audited requests refused with this status code."""

    actor: Annotated[
        str | None,
        Argument(
            option=Option(
                "Only Events reported by this component, and requests of this"
                " user.",
                ("--actor",),
                "NAME",
            ),
            graphql="Only facts with this actor.",
            agents="Who reported an Event or made a request.",
        ),
    ] = None
    window: Annotated[Window, WINDOW]
    limit: Annotated[int | None, LIMIT] = None
    """How many of the newest to return; None for all."""

    documents: Annotated[
        bool,
        Argument(
            takes=bool,
            option=Option("Include each document as received.", ("--raw",)),
            agents="Whether each document is wanted, as received.",
        ),
    ] = False
    facts: Annotated[
        bool,
        Argument(
            takes=bool,
            option=Option(
                "Show the facts derived from the entries.", ("--facts",)
            ),
        ),
    ] = False
    """Whether to return the facts derived from entries instead of them."""

    words: bool = False
    """Whether each entry has a summary in words."""

    @property
    def log(self) -> int | None:
        """The log that the entry names."""
        return None if self.entry is None else self.entry.log

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            ConfigError: they exclude each other, or the source is unknown.
        """
        if self.facts and self.documents:
            msg = "documents and facts cannot be shown together"
            raise ConfigError(
                msg, advice="remove --raw or --facts", code="question"
            )
        if self.source is not None and self.source not in SOURCES:
            msg = (
                f'there is no source "{self.source}": it is one of'
                f" {', '.join(SOURCES)}{did_you_mean(self.source, SOURCES)}"
            )
            raise ConfigError(msg, code="question")


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectNamed:
    """Which object the nested fields are about."""

    object: Annotated[
        Reference,
        named_object(
            graphql="Written as for kubectl: `node/gpu-002`,"
            " `pod/train/llm-0`, `po/llm-0` with `namespace`."
        ),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectQuestion:
    """Which object, and when."""

    object: Annotated[Reference, OBJECT]
    at: Annotated[datetime | None, VERSION_AT] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldsQuestion(ObjectQuestion):
    """Which fields of an object, and when."""

    field: Annotated[
        str | None,
        Argument(
            option=Option(
                "Only fields at or under this path, as in spec.taints; or"
                " those of this name.",
                ("--field",),
                "PATH",
            )
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryQuestion:
    """Which versions to return."""

    object: Annotated[Reference, OBJECT]
    window: Annotated[Window, WINDOW]
    limit: Annotated[int | None, LIMIT] = None
    """How many of the newest to return; None for all."""

    all_fields: Annotated[bool, ALL_FIELDS] = False


class EndError(ConfigError):
    """The ends of a comparison are in the wrong order or another log."""

    code = "question.end"


@dataclass(frozen=True, slots=True)
class End:
    """One end of a comparison; the newest version by default."""

    at: datetime | None = None
    entry: EntryName | None = None
    """Exactly this version."""

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        now: datetime,
        name: str,
        assumed: Callable[[str], None] | None = None,
    ) -> "End":
        """Parse a time, an age, or the name of an entry.

        ``assumed`` is called if a time without a zone is taken as UTC.

        Raises:
            TimeError: it is none of these.
        """
        with suppress(ValueError):
            return cls(entry=EntryName.parse(text))
        at = parse_time(text, now=now, name=name, assumed=assumed)
        return cls(at=at)


OBJECTS_AT = replace(NODES_AT, agents="As they were then. Default: the end.")


FROM = Argument(
    name="from_",
    required=True,
    option=Option(
        "As it was then: 2026-11-21T03:18:00Z, an age: 2h, or in an entry:"
        " 1/48213.",
        ("--from",),
        "TIME",
    ),
    graphql="A time in any of the forms of DateTime, or the name of an entry.",
    graphql_name="from",
)


TO = Argument(
    name="to",
    option=Option(
        "Compare with this time or entry. Default: the newest version.",
        ("--to",),
        "TIME",
    ),
    graphql="A time in any of the forms of DateTime, or the name of an entry,"
    " `LOG/POSITION`. Default: the newest version.",
)


def _end(argument: Argument) -> Arguments[[Asking, str | None]]:
    def parse(asking: Asking, text: str | None) -> End:
        if text is None:
            return End()
        return End.parse(
            text,
            now=asking.now,
            name=asking.spelled(argument),
            assumed=asking.assumed,
        )

    return Arguments((argument,), parse)


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceQuestion:
    """Which object, and the two ends."""

    object: Annotated[Reference, OBJECT]
    before: Annotated[End, _end(FROM)]
    after: Annotated[End, _end(TO)]
    all_fields: Annotated[bool, ALL_FIELDS] = False

    @property
    def log(self) -> int | None:
        """The log that an end names."""
        ends = (self.before.entry, self.after.entry)
        return next((end.log for end in ends if end is not None), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectsQuestion:
    """Which objects of a kind, and when; all by default."""

    kind: Annotated[
        str,
        Argument(
            required=True,
            option=Option(metavar="KIND"),
            graphql="As kubectl takes it: `pods`, `job`, or"
            " `jobs.batch.volcano.sh`.",
            agents="As kubectl takes it: pods, job, jobs.batch.volcano.sh.",
        ),
    ]
    names: Annotated[
        Sequence[str],
        Argument(
            many=True,
            option=Option(metavar="[NAME]..."),
            graphql="Only these.",
            agents="Only these names.",
        ),
    ] = ()
    namespace: Annotated[
        str | None,
        Argument(
            option=Option(
                "Only those of this namespace.",
                ("-n", "--namespace"),
                "NAMESPACE",
            ),
            graphql="Only those of this namespace.",
            agents="Only those of this namespace.",
        ),
    ] = None
    at: Annotated[datetime | None, OBJECTS_AT] = None
    limit: Annotated[
        int,
        Argument(
            takes=int,
            option=Option(
                "Show only the first N.",
                ("--limit",),
                "N",
                between=(1, 20_000),
                default=1000,
            ),
            graphql="At most this many, by name. Default: 1000.",
            agents="How many at most, by name. Default: 1000.",
        ),
    ] = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuestion:
    """Which text to search for in names."""

    text: Annotated[
        str,
        Argument(
            required=True,
            option=Option(metavar="TEXT", names="objects"),
            graphql="Part of a name, `kind/name`, or an entry.",
            agents="Part of a name, KIND/NAME, or LOG/POSITION of an entry.",
        ),
    ]
    limit: Annotated[
        int,
        Argument(
            takes=int,
            option=Option(
                "Show only the first N.",
                ("--limit",),
                "N",
                between=(1, 1000),
                default=100,
            ),
            agents="How many at most, the nearest first. Default: 100.",
        ),
    ] = 100
