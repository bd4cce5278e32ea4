"""Facts with their names, to compare stored ones with derived ones.

With names instead of numbers, a fact that refers to an edited name differs,
and facts of a database and of an archive are compared alike. Every column is
compared except the number of the derivation.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import orjson

from recorder.facts import WrittenFact
from recorder.integrity.chain import Problem
from recorder.model.entry import Draft
from recorder.model.reference import EntryName, ObjectIdentity
from recorder.store.codes import BEARING_CODES, FACTS, MARK_CODES

SHOWN_MAX = 60
"""Characters of a value that a problem shows."""

SHOWN = frozenset({"kind", "node", "actor", "at", "topic", "value"})
"""Members whose values are shown."""

Texts = tuple[str, ...] | None


class Said(NamedTuple):
    """A fact with names instead of numbers."""

    kind: str
    recorded_at: datetime
    node: str | None
    object: ObjectIdentity | None
    owner: ObjectIdentity | None
    actor: str | None
    at: datetime
    observed_at: datetime | None
    bearing: int
    mark: int | None
    topic: str | None
    value: str | None
    place: str | None
    labels: Texts
    keys: Texts
    owners: Texts
    detail: bytes
    """JSON."""


def kind_of(number: int) -> str:
    """Return the name of a kind of facts, also for an unknown number."""
    kind = FACTS.get(number)
    return f"kind {number}" if kind is None else kind.value


def said(fact: WrittenFact, draft: Draft, recorded_at: datetime) -> Said:
    """Return a derived fact as its row would read."""
    marks = fact.marks
    observed = fact.seen_at or draft.observed_at
    occurred = fact.occurred_at
    return Said(
        kind=fact.kind.value,
        recorded_at=recorded_at,
        node=fact.node,
        object=fact.object,
        owner=fact.owner,
        actor=fact.actor,
        at=occurred or observed,
        observed_at=None if occurred is None else observed,
        bearing=BEARING_CODES[marks.bearing],
        mark=None if marks.mark is None else MARK_CODES[marks.mark],
        topic=marks.topic,
        value=marks.value,
        place=fact.place,
        labels=_texts(marks.labels),
        keys=_texts(marks.keys),
        owners=_texts(marks.owners),
        detail=fact.detail,
    )


def compared(
    name: EntryName,
    derived: Sequence[Said],
    stored: Sequence[tuple[int, Said]],
) -> Iterator[Problem]:
    """Yield how the stored facts of an entry differ from the derived ones."""
    left = dict(enumerate(derived))
    # Of two with one index the one that differs is the one that was added.
    for index, one in sorted(
        stored, key=lambda fact: (fact[0], fact[1] != left.get(fact[0]))
    ):
        expected = left.pop(index, None)
        if expected is None:
            says = f"{_named(index, name, one)} does not follow from its entry"
            yield Problem(kind="fact-added", position=name.position, says=says)
            continue
        wrong = [
            _difference(member, is_, should)
            for member, is_, should in zip(
                Said._fields, one, expected, strict=True
            )
            if is_ != should and not _is_alike(member, is_, should)
        ]
        if wrong:
            says = (
                f"{_named(index, name, expected)} does not match its entry:"
                f" {', '.join(wrong)}"
            )
            yield Problem(
                kind="fact-altered", position=name.position, says=says
            )
    for index, one in left.items():
        says = f"{_named(index, name, one)} is missing"
        yield Problem(kind="fact-missing", position=name.position, says=says)


def _named(index: int, name: EntryName, fact: Said) -> str:
    where = f"{name}" if name.log else f"{name.position}"
    return f"fact {index} of entry {where} ({fact.kind})"


def _difference(member: str, is_: object, should: object) -> str:
    if member not in SHOWN:
        return f"{member} differs"
    return f"{member} is {_shown(is_)} instead of {_shown(should)}"


def _shown(value: object) -> str:
    if value is None:
        return "none"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}..."


def _is_alike(member: str, is_: object, should: object) -> bool:
    """Return whether two details are the same JSON, written differently."""
    if member != "detail":
        return False
    assert isinstance(is_, bytes)
    assert isinstance(should, bytes)
    try:
        return bool(orjson.loads(is_) == orjson.loads(should))
    except orjson.JSONDecodeError:
        return False


def _texts(texts: Sequence[str] | None) -> Texts:
    return None if texts is None else tuple(texts)
