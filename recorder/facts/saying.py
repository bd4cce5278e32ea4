"""Facts in words: one line each, for people and for answers."""

from collections.abc import Callable, Mapping
from typing import Any

from recorder.model.fact import Fact, FactKind

__all__ = ["says", "says_with_object"]

Detail = Mapping[str, Any]
VALUE_CHARACTERS_MAX = 160

OF_THE_NODE = frozenset({"Node", "Lease"})
"""Kinds that are understood where a node is spoken of."""


def says(fact: Fact) -> str:
    """Return a fact in words, without its time and its object."""
    return _WORDS[fact.kind](fact.detail)


def says_with_object(fact: Fact) -> str:
    """Return a fact about a node in words, with the object that it is of.

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
    return f"{thing.kind.lower()}/{middle}{thing.name}: {said}"


def _appeared(detail: Detail) -> str:
    state = detail.get("state", {})
    fields = state.get("fields", {})
    parts = ["created" if detail.get("created") else "seen for the first time"]
    if boot := fields.get("boot_id"):
        parts.append(f"boot {boot}")
    if phase := fields.get("phase"):
        parts.append(str(phase))
    return ", ".join(parts)


def _vanished(detail: Detail) -> str:
    return (
        "gone, missing from a complete list"
        if detail.get("inferred")
        else "deleted"
    )


def _condition(detail: Detail) -> str:
    new, old = detail.get("new"), detail.get("old")
    if new is None:
        return f"condition {detail['type']} removed"
    text = f"{detail['type']}={new['status']}"
    if new.get("reason"):
        text += f" {new['reason']}"
    if new.get("message"):
        text += f": {_short(new['message'])}"
    if old is not None and old["status"] != new["status"]:
        text += f" (was {old['status']})"
    return text


def _text(what: str) -> Callable[[Detail], str]:
    def told(detail: Detail) -> str:
        key, old, new = detail["key"], detail["old"], detail["new"]
        if new is None:
            return f"{what} {key} removed (was {_short(old)})"
        return f"{what} {key}={_short(new)}"

    return told


def _field(detail: Detail) -> str:
    field = str(detail["field"]).replace("_", " ")
    return f"{field}: {_value(detail['old'])} -> {_value(detail['new'])}"


def _boot(detail: Detail) -> str:
    return f"boot id {detail['old']} -> {detail['new']}"


def _taint(what: str) -> Callable[[Detail], str]:
    def told(detail: Detail) -> str:
        value = f"={detail['value']}" if detail.get("value") else ""
        return f"{what} {detail['key']}{value}:{detail['effect']}"

    return told


def _resource(detail: Detail) -> str:
    return (
        f"{detail['list']} {detail['resource']}:"
        f" {_value(detail['old'])} -> {_value(detail['new'])}"
    )


def _started(detail: Detail) -> str:
    if detail.get("restarts"):
        return f"container {detail['container']} runs again"
    return "running"


def _ended(detail: Detail) -> str:
    text = str(detail.get("phase", "ended"))
    if detail.get("reason"):
        text += f" {detail['reason']}"
    if detail.get("message"):
        text += f": {_short(detail['message'])}"
    return text


def _container(detail: Detail) -> str:
    text = f"container {detail['container']} ended"
    if detail.get("exit_code") is not None:
        text += f" with {detail['exit_code']}"
    if detail.get("reason"):
        text += f" {detail['reason']}"
    return text


def _event(detail: Detail) -> str:
    text = (
        f"{detail.get('reason', 'Event')}: {_short(detail.get('message', ''))}"
    )
    count = detail.get("count", 1)
    return f"{text} (x{count})" if count > 1 else text


def _request(detail: Detail) -> str:
    name = "/".join(
        str(detail[part])
        for part in ("resource", "namespace", "name", "subresource")
        if detail.get(part)
    )
    who = detail.get("user", "somebody")
    if detail.get("as"):
        who = f"{who} as {detail['as']}"
    return f"{who}: {detail.get('verb', 'request')} {name}"


def _value(value: Any) -> str:
    return "none" if value is None else _short(str(value))


def _short(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= VALUE_CHARACTERS_MAX:
        return text
    return f"{text[:VALUE_CHARACTERS_MAX]}…"


_WORDS: Mapping[FactKind, Callable[[Detail], str]] = {
    FactKind.APPEARED: _appeared,
    FactKind.VANISHED: _vanished,
    FactKind.DELETION_REQUESTED: lambda _: "deletion requested",
    FactKind.CONDITION_CHANGED: _condition,
    FactKind.LABEL_CHANGED: _text("label"),
    FactKind.ANNOTATION_CHANGED: _text("annotation"),
    FactKind.FIELD_CHANGED: _field,
    FactKind.BOOT_CHANGED: _boot,
    FactKind.MACHINE_CHANGED: _field,
    FactKind.TAINTED: _taint("tainted"),
    FactKind.UNTAINTED: _taint("taint removed"),
    FactKind.CORDONED: lambda _: "cordoned",
    FactKind.UNCORDONED: lambda _: "uncordoned",
    FactKind.RESOURCE_CHANGED: _resource,
    FactKind.LEASE_SILENT: lambda _: "last lease renewal",
    FactKind.BOUND: lambda detail: f"bound to {detail['node']}",
    FactKind.STARTED: _started,
    FactKind.ENDED: _ended,
    FactKind.CONTAINER_ENDED: _container,
    FactKind.EVENT: _event,
    FactKind.REQUESTED: _request,
    FactKind.UNREADABLE: lambda detail: f"not readable: {detail['why']}",
}
