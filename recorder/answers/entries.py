"""Answers of `recorder log`: which entries, and what may be missing."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from recorder.answers.arguments import (
    LIMIT,
    WINDOW,
    Argument,
    Arguments,
    Option,
)
from recorder.answers.entry import ask_entry, entry_name
from recorder.answers.nouns import Line, Part, Selection, is_about_events
from recorder.answers.placed import requests_placed
from recorder.answers.ports import OnDay, Reading
from recorder.answers.queries import EntryQuery, FactListQuery, WordsNear
from recorder.answers.references import (
    KnownObject,
    Reference,
    did_you_mean,
    find_node,
    find_objects,
    node_name,
)
from recorder.answers.wording import worded
from recorder.coverage.coverage import Coverage, covered
from recorder.coverage.ports import Reads
from recorder.coverage.unproven import no_facts
from recorder.errors import ConfigError
from recorder.model.entry import Operation
from recorder.model.fact import FactKind, StoredFact
from recorder.model.observation import AUDIT, CLOUDEVENTS, SLURM, WATCH
from recorder.model.reference import EntryName, Resource
from recorder.model.window import Window

__all__ = [
    "SOURCES",
    "EntryQuestion",
    "Entries",
    "ask_entries",
    "entry_coverage",
    "find_asked",
    "find_beside",
    "is_of",
    "named_object",
]

SOURCES = (WATCH, AUDIT, CLOUDEVENTS, SLURM, "recorder")
"""Sources that entries may come from."""


class QuestionError(ConfigError):
    """What was asked does not fit together."""

    code = "question"


def named_object(text: str | None, namespace: str | None) -> Reference | None:
    """Read which object is asked about, if one is.

    Raises:
        ConfigError: it is not named as it should be, or only its namespace.
    """
    if text is not None:
        return Reference.parse(text, namespace)
    if namespace is not None:
        msg = "a namespace is given, but no object in it"
        raise QuestionError(msg, advice="add --object")
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryQuestion:
    """Which entries are wanted."""

    entry: Annotated[
        EntryName | None,
        Argument(
            name="entry",
            parse=entry_name,
            option=Option(metavar="[LOG/POSITION]"),
            agents="This one alone, as LOG/POSITION. No other filter.",
        ),
    ] = None
    """This one alone; nothing else is asked of it then."""

    node: Annotated[
        str | None,
        Argument(
            name="node",
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
            lambda _, text, namespace: named_object(text, namespace),
        ),
    ] = None
    source: Annotated[
        str | None,
        Argument(
            name="source",
            option=Option("watch, audit, recorder, ...", ("--source",)),
            graphql="Only this source.",
            agents="watch, audit, cloudevents, slurm or recorder.",
        ),
    ] = None
    operations: Annotated[
        tuple[Operation, ...] | None,
        Argument(
            name="operations",
            takes=Operation,
            many=True,
            graphql="Only these values.",
        ),
    ] = None
    """Of entries, where not all are wanted."""

    kinds: Annotated[
        tuple[FactKind, ...] | None,
        Argument(
            name="kinds",
            takes=FactKind,
            many=True,
            graphql="Only facts of these kinds.",
        ),
    ] = None
    """Of facts, where not all are wanted."""

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
            name="code",
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
    """With which audited requests were refused."""

    actor: Annotated[
        str | None,
        Argument(
            name="actor",
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
    """How many of the newest; None for all."""

    documents: Annotated[
        bool,
        Argument(
            name="documents",
            takes=bool,
            option=Option("Include each document as received.", ("--raw",)),
            agents="Whether each document is wanted, as received.",
        ),
    ] = False
    facts: Annotated[
        bool,
        Argument(
            name="facts",
            takes=bool,
            option=Option(
                "Show the facts derived from the entries.", ("--facts",)
            ),
        ),
    ] = False
    """Whether what the entries tell is wanted, not the entries."""

    words: bool = False
    """Whether each entry is to say in words what it tells."""

    @property
    def log(self) -> int | None:
        """The log that the entry names."""
        return None if self.entry is None else self.entry.log

    def __post_init__(self) -> None:
        """See that it fits together.

        Raises:
            ConfigError: it does not, or there is no such source.
        """
        if self.facts and self.documents:
            msg = "documents and facts cannot be shown together"
            raise QuestionError(msg, advice="remove --raw or --facts")
        if self.source is not None and self.source not in SOURCES:
            msg = (
                f'there is no source "{self.source}": it is one of'
                f" {', '.join(SOURCES)}{did_you_mean(self.source, SOURCES)}"
            )
            raise QuestionError(msg)

    def selects(
        self, found: KnownObject | None, beside: tuple[int, ...] = ()
    ) -> Selection:
        """Return what is asked of each entry; of which object is known."""
        return Selection(
            node=self.node,
            beside=beside,
            code=self.code,
            objects=None if found is None else found.numbers,
            source=self.source,
            reason=self.reason,
            actor=self.actor,
            operations=self.operations,
            kinds=self.kinds,
            since=self.window.since,
            until=self.window.until,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """What a question selects, to be read page by page."""

    question: EntryQuestion
    found: KnownObject | None
    """The object that is asked about, if one is."""

    beside: tuple[int, ...]
    """Positions of requests about Pods that were on the node."""

    after: int
    """Where the wanted lines begin."""

    coverage: Coverage
    notes: Sequence[str]
    """What a person should know beside the lines."""

    @property
    def more(self) -> bool:
        """Whether there are older lines that the limit leaves out."""
        return self.after > 0 and self.question.entry is None

    def pages(
        self, reading: Reading
    ) -> AsyncIterator[Sequence[Line | StoredFact]]:
        """Yield the lines, or the facts, in log order."""
        one = self.question.entry
        if one is not None:
            reading = reading.as_of(one.position)
        return self.later(reading, self.found, after=self.after)

    def later(
        self, reading: Reading, found: KnownObject | None, *, after: int
    ) -> AsyncIterator[Sequence[Line | StoredFact]]:
        """Yield what came after a position, of an object found anew."""
        selection = self.question.selects(found, self.beside)
        if self.question.facts:
            return reading.pages(FactListQuery(selection), after=after)
        parts = Part.OPENED if self.question.documents else Part.LISTED
        lines = reading.pages(EntryQuery(selection, parts), after=after)
        return _worded(reading, lines) if self.question.words else lines


async def _worded(
    reading: Reading, pages: AsyncIterator[Sequence[Line]]
) -> AsyncIterator[Sequence[Line]]:
    async for page in pages:
        yield await worded(reading, page)


async def ask_entries(
    reading: Reading,
    question: EntryQuestion,
    *,
    now: datetime,
    on_day: OnDay | None = None,
) -> Entries:
    """Find what a question selects, and what may be missing from it.

    Raises:
        NotFoundError: the log has no such entry, node or object.
    """
    if question.entry is not None:
        return await _alone(reading, question, question.entry)
    found = await find_asked(reading, question)
    beside = await find_beside(reading, question)
    after = 0
    if question.limit is not None:
        selection, limit = question.selects(found, beside), question.limit
        if question.facts:
            facts = FactListQuery(selection)
            after = await reading.skip_to_newest(facts, limit, on_day=on_day)
        else:
            lines = EntryQuery(selection)
            after = await reading.skip_to_newest(lines, limit, on_day=on_day)
    return Entries(
        question=question,
        found=found,
        beside=beside,
        after=after,
        coverage=await entry_coverage(reading, question, found, now=now),
        notes=await _unknown_words(reading, question),
    )


async def find_asked(
    reading: Reading, question: EntryQuestion
) -> KnownObject | None:
    """Find the object that is asked about, if one is.

    Raises:
        NotFoundError: the log has no such node or object.
    """
    await reading.reach(question.window.since, question.window.until)
    if question.node is not None:
        await find_node(reading, question.node)
    if question.object is None:
        return None
    return await find_objects(reading, question.object)


async def entry_coverage(
    reading: Reading,
    question: EntryQuestion,
    found: KnownObject | None,
    *,
    now: datetime,
) -> Coverage:
    """Judge what may be missing of what a question selects."""
    return await covered(
        reading,
        question.window,
        now=now,
        reads=_reads(question, found),
        facts=question.facts,
    )


async def _alone(
    reading: Reading, question: EntryQuestion, name: EntryName
) -> Entries:
    """Find one entry: of it nothing can be missing but its facts."""
    await ask_entry(reading, name)
    end = await reading.facts_end() if question.facts else None
    lacks = end is not None and end.entry < name
    holes = [*no_facts(end, question.window)] if end and lacks else []
    return Entries(
        question=question,
        found=None,
        beside=(),
        after=name.position - 1,
        coverage=Coverage.of(question.window, holes=holes),
        notes=(),
    )


async def find_beside(
    reading: Reading, question: EntryQuestion
) -> tuple[int, ...]:
    """Find requests about Pods that were on the node."""
    if question.node is None or question.source not in {None, AUDIT}:
        return ()
    found = await requests_placed(reading, question.node, question.window)
    return tuple(stored.entry.position for stored in found)


def _reads(question: EntryQuestion, found: KnownObject | None) -> Reads:
    """Return which streams could have given an entry that was asked for."""
    only_events = question.reason is not None or question.actor is not None

    def reads(source: str, resource: str) -> bool:
        if question.source not in {None, source}:
            return False
        if source != WATCH:
            # Only a watch tells of which object, and of Events.
            return found is None and not only_events
        if is_about_events(resource):
            return True
        if only_events:
            return False
        return found is None or is_of(found, resource)

    return reads


def is_of(found: KnownObject, resource: str) -> bool:
    """Return whether a resource is the one that an object is of."""
    kind, parsed = found.kind, Resource.parse(resource)
    if parsed.group != kind.group:
        return False
    # Of a kind that nothing defines the plural is only a guess, so whatever
    # is missing from its group may be missing from it.
    return parsed.plural == kind.plural or kind.namespaced is None


async def _unknown_words(
    reading: Reading, question: EntryQuestion
) -> list[str]:
    notes = []
    for name, word in (("reason", question.reason), ("actor", question.actor)):
        if word is None:
            continue
        near = await reading.names(WordsNear(word))
        if near:
            hint = did_you_mean(word, near)
            notes.append(f'no entry has the {name} "{word}"{hint}')
    return notes
