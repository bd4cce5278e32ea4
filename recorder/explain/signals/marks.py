"""Marks: what is written about a node and has no rule.

Only its author and its text count, by the words of ``marks.yaml``: a mark
joins the acts of its author, can state their purpose, and can name the fault
they respond to. A mark alone opens no episode.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from recorder.explain.knowledge import Knowledge
from recorder.explain.signals.actor import actor_of
from recorder.explain.signals.signal import Signal, Subject, Topic
from recorder.model.fact import Fact, FactKind, StoredFact
from recorder.model.facts import (
    Appeared,
    Claimed,
    ConditionChanged,
    EventOccurred,
    FieldChanged,
    MetadataChanged,
)
from recorder.model.outcomes import Decision, Role
from recorder.model.rules_files import shipped_rows

_PROGRESS = frozenset(
    {
        FactKind.APPEARED,
        FactKind.CONDITION_CHANGED,
        FactKind.DELETION_REQUESTED,
        FactKind.FIELD_CHANGED,
    }
)
"""Facts about an object that names a node which show its progress."""

_DOMAIN = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+/")
"""The domain of a key."""


class _Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    daily: frozenset[str]
    no_order: frozenset[str]
    own: frozenset[str]
    intents: dict[Decision, list[str]]
    stopped: list[str]
    drained: list[str]
    later: list[str]
    past: list[str]
    not_before: list[str]
    not_after: list[str]
    nothing: frozenset[str]
    called_off: list[str]
    good: list[str]


_WORDS: Final = shipped_rows("recorder.explain.signals", "marks.yaml", _Words)


def _any_of(words: Iterable[str], end: str = "") -> re.Pattern[str]:
    return re.compile(f"({'|'.join(words)}){end}", re.IGNORECASE)


_INTENTS = [(one, _any_of(said)) for one, said in _WORDS.intents.items()]
_STOP, _SOME_DAY = _any_of(_WORDS.stopped), _any_of(_WORDS.later)
_ORDER = _any_of([*_WORDS.stopped, *_WORDS.drained])
_PAST = _any_of(_WORDS.past)
_CALLED_OFF, _POSITIVE = _any_of(_WORDS.called_off), _any_of(_WORDS.good, "$")
_SAID = _any_of([_ORDER.pattern, *(words.pattern for _, words in _INTENTS)])
_DENIED = re.compile(
    rf"({'|'.join(_WORDS.not_before)})[^a-z0-9]{{0,2}}{_SAID.pattern}"
    rf"|{_SAID.pattern}(?-i:[a-z]{{0,9}})[^a-z0-9]{{0,2}}"
    rf"({'|'.join(_WORDS.not_after)})",
    re.IGNORECASE,
)
"""A word with what denies it: ``no-reboot``, ``maintenance-free``."""


def marks_of(
    stored: StoredFact, knowledge: Knowledge, *, node: str
) -> Iterator[Signal]:
    """Yield the marks of a fact, with their author."""
    fact = stored.fact
    subject = _subject(fact, node)
    detail = fact.detail
    if isinstance(detail, Claimed) and not knowledge.types.get(detail.type):
        subject = Subject(Topic.CLAIM, f"{detail.type} {detail.subject}")
    if subject is None or fact.actor in _WORDS.daily:
        return
    actor = actor_of(fact.actor, knowledge)
    yield Signal(Role.ACT, subject, stored, actor=actor, ruled=False)


def _subject(fact: Fact, node: str) -> Subject | None:
    thing, about = fact.object, fact.about
    if isinstance(fact.detail, EventOccurred):
        reason = fact.detail.reason
        of_node = about not in {"Pod", ""} and fact.node == node
        return Subject(Topic.EVENT, reason) if of_node and reason else None
    if about == "Node":
        return _of_node(fact)
    if thing is None or about in _WORDS.no_order or fact.node != node:
        return None
    name = f"{thing.kind}/{thing.name}"
    if isinstance(fact.detail, MetadataChanged):
        # A person asks by it, of an object of the node as of the Node.
        return Subject(Topic.METADATA, f"{name} {fact.detail.key}")
    return Subject(Topic.OBJECT, name) if fact.kind in _PROGRESS else None


def _of_node(fact: Fact) -> Subject | None:
    match fact.detail:
        case ConditionChanged(type=name):
            return Subject(Topic.CONDITION, name)
        case MetadataChanged(key=key):
            return Subject(Topic.METADATA, key)
        case _:
            return None


def intents_of(steps: Iterable[Signal]) -> Iterator[tuple[Decision, Signal]]:
    """Yield the purposes that the words of steps state.

    The domain of a key names its owner, not a purpose.
    """
    texts = ((step, f"{step.subject.name} {step.says}") for step in steps)
    said = [(s, _undenied(_DOMAIN.sub("", text))) for s, text in texts]
    for decision, words in _INTENTS:
        yield from ((decision, s) for s, text in said if words.search(text))


def is_undone(mark: Signal) -> bool:
    """Whether a signal ends what one of its subject began or stated.

    A value that only states something else, such as a next stage, does not.
    """
    match mark.detail:
        case MetadataChanged(old=old, new=new):
            if new is None or new.lower() in _WORDS.nothing:
                return True
            return bool(_SAID.search(old or "")) and not _SAID.search(new)
        case _:
            return mark.over


def is_order(
    mark: Signal, *, later: bool = False, stops: bool = False
) -> bool:
    """Whether a mark says that its node is drained or rebooted now.

    Or, if ``later``, that this is planned, or waits for something. If
    ``stops``, only that it is rebooted.
    """
    words = [text or "" for text in _words(mark)]
    order = _STOP if stops else _ORDER
    if not any(map(order.search, words)):
        return False
    words = [*map(_undenied, words)]
    # The first that says so decides, with what follows: ``reboot=pending``.
    while words and not order.search(words[0]):
        del words[0]
    return bool(words) and (later or not _SOME_DAY.search(" ".join(words)))


def is_later(mark: Signal) -> bool:
    """Whether a mark says that something is planned, or waits."""
    return _SOME_DAY.search(mark.says) is not None


def _undenied(text: str) -> str:
    """Return a text without the words that it denies: few texts have any."""
    return _DENIED.sub("", text) if _SAID.search(text) else text


def _words(mark: Signal) -> Sequence[str | None]:
    """Return the texts that may say what is done now."""
    said: Sequence[str | None] = ()
    match mark.detail:
        case MetadataChanged(new=str()) as noted:
            name, new = noted.key.rpartition("/")[2], noted.new or ""
            off = new.lower() in _WORDS.nothing or _CALLED_OFF.match(new)
            if not (off or _PAST.search(name)):
                # A value that is an act states it, whatever its key.
                is_act = _ORDER.match(new) and " " not in new
                said = (new,) if is_act else (name, new)
        case EventOccurred(reason=reason, message=message):
            said = (f"{reason} {message}",)
        case ConditionChanged(type=name, new=turned) if turned is not None:
            if turned.status == "True" and mark.topic is Topic.CONDITION:
                said = name, turned.reason, turned.message
        case Appeared(created=True) if mark.topic is Topic.OBJECT:
            said = (mark.subject.name,)
    return said


def is_made(mark: Signal) -> bool:
    """Whether an object that names the node was created."""
    detail = mark.detail
    return isinstance(detail, Appeared) and detail.created


def is_called_off(mark: Signal) -> bool:
    """Whether an object says that its order is not carried out."""
    match mark.detail:
        case FieldChanged(new=str(new)):
            return bool(_CALLED_OFF.search(new))
        case ConditionChanged(type=name, new=new) if new is not None:
            return new.status == "True" and bool(_CALLED_OFF.search(name))
        case _:
            return False


def is_bad(mark: Signal) -> bool:
    """Whether a condition turned to what its name says is bad."""
    good = _POSITIVE.search(mark.subject.name) is not None
    return mark.status == ("False" if good else "True")


def is_trouble(mark: Signal) -> bool:
    """Whether a mark may say that something is broken.

    A condition that changed and is explained only by its name. It counts if
    an act names it.
    """
    if mark.topic is not Topic.CONDITION or mark.subject.name in _WORDS.own:
        return False
    detail = mark.detail
    if not isinstance(detail, ConditionChanged) or detail.new is None:
        return False
    was = None if detail.old is None else detail.old.status
    return detail.new.status not in {"Unknown", was}


def is_report(mark: Signal) -> bool:
    """Whether it is a warning, or what an object of the node came to."""
    match mark.detail:
        case EventOccurred(type=kind):
            return kind == "Warning" or _is_of_object(mark)
        case Claimed():
            return True
        case FieldChanged() | ConditionChanged():
            return _is_of_object(mark)
        case _:
            return False


def _is_of_object(mark: Signal) -> bool:
    return mark.stored.fact.about not in {"Node", ""}
