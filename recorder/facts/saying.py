"""Facts in words: one line each, for people and for answers."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from recorder.facts.metrics import kept_of
from recorder.facts.requesting import says_request
from recorder.facts.slurm import SLURM_GROUP, part_of
from recorder.model import facts
from recorder.model.fact import Fact, FactKind
from recorder.model.facts import Detail
from recorder.model.state import Scalar

VALUE_CHARACTERS_MAX = 160

ABSENT: Final = "gone, missing from a complete list"
ENDED_WITH_RUN: Final = "ended with its run"
"""How a member of a job of Slurm is gone that has no reason of its own."""

OF_THE_NODE = frozenset({"Node", "Lease", "CloudEvent"})
"""Kinds that need no name in a line about their node."""


def says(fact: Fact) -> str:
    """Return a fact in words, without its time and its object."""
    detail, thing = fact.detail, fact.object
    if isinstance(detail, facts.Requested):
        return says_request(detail, thing)
    if isinstance(detail, facts.Vanished) and detail.inferred:
        of_slurm = thing is not None and thing.group == SLURM_GROUP
        return ENDED_WITH_RUN if of_slurm else ABSENT
    return _WORDS[type(detail)](detail)


def says_with_object(fact: Fact) -> str:
    """Return a fact about a node in words, with its object.

    What an audit record asked for names its object itself.
    """
    thing = fact.object
    said = says(fact)
    if (
        thing is None
        or thing.kind in OF_THE_NODE
        or fact.kind is FactKind.REQUESTED
    ):
        return said
    middle = f"{thing.namespace}/" if thing.namespace else ""
    kind = part_of(thing) if thing.kind == "Pod" else thing.kind
    return f"{kind.lower()}/{middle}{thing.name}: {said}"


def _appeared(detail: facts.Appeared) -> str:
    fields = detail.state.fields
    parts = ["created" if detail.created else "seen for the first time"]
    if boot := fields.get("boot_id"):
        parts.append(f"boot {boot}")
    if phase := fields.get("phase"):
        parts.append(str(phase))
    if command := fields.get("host_command"):
        parts.append(f"runs {_short(str(command))}")
    return ", ".join(parts)


def _condition(detail: facts.ConditionChanged) -> str:
    new, old = detail.new, detail.old
    if new is None:
        return f"condition {detail.type} removed"
    text = f"{detail.type}={new.status}"
    if new.reason:
        text += f" {new.reason}"
    if new.message:
        text += f": {_short(new.message)}"
    if old is not None and old.status != new.status:
        text += f" (was {old.status})"
    return text


def _label(detail: facts.LabelChanged) -> str:
    return _text("label", detail)


def _annotation(detail: facts.AnnotationChanged) -> str:
    return _text("annotation", detail)


def _text(
    what: str, detail: facts.LabelChanged | facts.AnnotationChanged
) -> str:
    if detail.new is None:
        return f"{what} {detail.key} removed (was {_short(detail.old or '')})"
    return f"{what} {detail.key}={_short(detail.new)}"


def _field(detail: facts.FieldChanged | facts.MachineChanged) -> str:
    field = detail.field.replace("_", " ")
    return f"{field}: {_value(detail.old)} -> {_value(detail.new)}"


def _boot(detail: facts.BootChanged) -> str:
    return f"boot id {detail.old or 'none'} -> {detail.new or 'none'}"


def _tainted(detail: facts.Tainted) -> str:
    return _taint("tainted", detail)


def _untainted(detail: facts.Untainted) -> str:
    return _taint("taint removed", detail)


def _taint(what: str, detail: facts.Tainted | facts.Untainted) -> str:
    value = f"={detail.value}" if detail.value else ""
    return f"{what} {detail.key}{value}:{detail.effect}"


def _resource(detail: facts.ResourceChanged) -> str:
    return (
        f"{detail.list} {detail.resource}:"
        f" {_value(detail.old)} -> {_value(detail.new)}"
    )


def _bound(detail: facts.Bound) -> str:
    return f"bound to {detail.node}"


def _started(detail: facts.Started) -> str:
    if detail.restarts:
        return f"container {detail.container} restarted"
    return "running"


def _ended(detail: facts.Ended) -> str:
    text = detail.phase or "ended"
    if detail.reason:
        text += f" {detail.reason}"
    if detail.message:
        text += f": {_short(detail.message)}"
    return text


def _container(detail: facts.ContainerEnded) -> str:
    text = f"container {detail.container} ended"
    if detail.exit_code is not None:
        text += f" with {detail.exit_code}"
    if detail.reason:
        text += f" {detail.reason}"
    return text


def _event(detail: facts.EventOccurred) -> str:
    text = f"{detail.reason or 'Event'}: {_short(detail.message or '')}"
    count = detail.count or 1
    return f"{text} (x{count})" if count > 1 else text


def _claimed(detail: facts.Claimed) -> str:
    kept = kept_of(detail)
    if kept is not None:
        # A sender may name a time that has no place in UTC.
        begin, end = kept.begin.isoformat(" "), kept.end.isoformat(" ")
        said = f"metrics of {_short(kept.node)}, {begin} to {end}"
        return f"{said}: {_short(kept.trouble)}" if kept.trouble else said
    data = "" if detail.data is None else _short(_pairs(detail.data))
    about = f" about {detail.subject}" if detail.subject else ""
    said = f"{detail.type}{about} from {_short(detail.source)}"
    return f"{said}: {data}" if data else said


def _pairs(data: object) -> str:
    """Return data as people read it: the members of an object, else JSON."""
    if not isinstance(data, dict):
        return msgspec.json.encode(data).decode()
    return ", ".join(
        f"{name}={value}"
        if isinstance(value, str)
        else f"{name}={msgspec.json.encode(value).decode()}"
        for name, value in data.items()
    )


def _unreadable(detail: facts.Unreadable) -> str:
    return f"not readable: {detail.why}"


def _value(value: Scalar | None) -> str:
    return "none" if value is None else _short(str(value))


def _short(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= VALUE_CHARACTERS_MAX:
        return text
    return f"{text[:VALUE_CHARACTERS_MAX]}…"


_WORDS: Final[Mapping[type[Detail], Callable[[Any], str]]] = {
    facts.Appeared: _appeared,
    facts.Vanished: lambda _: "deleted",
    facts.DeletionRequested: lambda _: "deletion requested",
    facts.ConditionChanged: _condition,
    facts.LabelChanged: _label,
    facts.AnnotationChanged: _annotation,
    facts.FieldChanged: _field,
    facts.BootChanged: _boot,
    facts.MachineChanged: _field,
    facts.Tainted: _tainted,
    facts.Untainted: _untainted,
    facts.Cordoned: lambda _: "cordoned",
    facts.Uncordoned: lambda _: "uncordoned",
    facts.ResourceChanged: _resource,
    facts.LeaseSilent: lambda _: "last lease renewal",
    facts.Bound: _bound,
    facts.Started: _started,
    facts.Ended: _ended,
    facts.ContainerEnded: _container,
    facts.EventOccurred: _event,
    facts.Claimed: _claimed,
    facts.Unreadable: _unreadable,
}
