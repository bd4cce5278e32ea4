"""Answers of `recorder log`: entries, and what may be missing."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from recorder.answers.entry import ask_entry
from recorder.answers.log_questions import EntryQuestion
from recorder.answers.naming import did_you_mean
from recorder.answers.nouns import Part, Selection, is_about_events
from recorder.answers.placed import requests_placed
from recorder.answers.ports import OnDay, Reading
from recorder.answers.queries import EntryQuery, FactListQuery, WordsNear
from recorder.answers.references import KnownObject, find_node, find_objects
from recorder.answers.wording import worded
from recorder.facts.coverage.coverage import Coverage, covered
from recorder.facts.coverage.ports import Reads
from recorder.facts.coverage.unproven import no_facts
from recorder.model.entry import Entry
from recorder.model.fact import StoredFact
from recorder.model.observation import AUDIT, WATCH
from recorder.model.reference import EntryName, Resource


def selection_of(
    question: EntryQuestion,
    found: KnownObject | None,
    beside: tuple[int, ...] = (),
) -> Selection:
    """Return the filter of a question; ``found`` is its object."""
    return Selection(
        node=question.node,
        beside=beside,
        code=question.code,
        objects=None if found is None else found.numbers,
        source=question.source,
        reason=question.reason,
        actor=question.actor,
        operations=question.operations,
        kinds=question.kinds,
        since=question.window.since,
        until=question.window.until,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """The entries that a question selects, to be read page by page."""

    question: EntryQuestion
    found: KnownObject | None
    """The object that the question names, if any."""

    beside: tuple[int, ...]
    """Positions of requests about Pods that were on the node."""

    after: int
    """The position after which the selected lines begin."""

    coverage: Coverage
    notes: Sequence[str]
    """Notes for people, such as a misspelled filter."""

    @property
    def more(self) -> bool:
        """Whether the limit leaves out older lines."""
        return self.after > 0 and self.question.entry is None

    def pages(
        self, reading: Reading
    ) -> AsyncIterator[Sequence[Entry | StoredFact]]:
        """Yield the lines, or the facts, in log order."""
        one = self.question.entry
        if one is not None:
            reading = reading.as_of(one.position)
        return self.later(reading, self.found, after=self.after)

    def later(
        self, reading: Reading, found: KnownObject | None, *, after: int
    ) -> AsyncIterator[Sequence[Entry | StoredFact]]:
        """Yield pages after a position; ``found`` is the object as of now."""
        selection = selection_of(self.question, found, self.beside)
        if self.question.facts:
            return reading.pages(FactListQuery(selection), after=after)
        parts = Part.OPENED if self.question.documents else Part.LISTED
        lines = reading.pages(EntryQuery(selection, parts), after=after)
        return _worded(reading, lines) if self.question.words else lines


async def _worded(
    reading: Reading, pages: AsyncIterator[Sequence[Entry]]
) -> AsyncIterator[Sequence[Entry]]:
    async for page in pages:
        yield await worded(reading, page)


async def ask_entries(
    reading: Reading,
    question: EntryQuestion,
    *,
    now: datetime,
    on_day: OnDay | None = None,
) -> Entries:
    """Find the entries that a question selects.

    Raises:
        NotFoundError: the log has no such entry, node or object.
    """
    if question.entry is not None:
        return await _alone(reading, question, question.entry)
    found = await find_asked(reading, question)
    beside = await find_beside(reading, question)
    after = 0
    if question.limit is not None:
        selection, limit = (
            selection_of(question, found, beside),
            question.limit,
        )
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
    """Find the object that the question names, if any.

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
    """Return the coverage of what a question selects."""
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
    """Find one entry; only its facts can be missing."""
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
    """Return the positions of requests about Pods on the node."""
    if question.node is None or question.source not in {None, AUDIT}:
        return ()
    found = await requests_placed(reading, question.node, question.window)
    return tuple(stored.entry.position for stored in found)


def _reads(question: EntryQuestion, found: KnownObject | None) -> Reads:
    """Return a filter for streams that can have selected entries."""
    only_events = question.reason is not None or question.actor is not None

    def reads(source: str, resource: str) -> bool:
        if question.source not in {None, source}:
            return False
        if source != WATCH:
            # Only a watch stream is about one kind, or about Events.
            return found is None and not only_events
        if is_about_events(resource):
            return True
        if only_events:
            return False
        return found is None or is_of(found, resource)

    return reads


def is_of(found: KnownObject, resource: str) -> bool:
    """Return whether an object is of a resource."""
    kind, parsed = found.kind, Resource.parse(resource)
    if parsed.group != kind.group:
        return False
    # The plural of a kind without a definition is a guess, so a gap of any
    # resource of its group may affect it.
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
