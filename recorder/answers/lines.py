"""Entries as answers list them, and their summary."""

from collections.abc import Mapping

import orjson

from recorder.answers.kinds import built_in_version
from recorder.answers.naming import named
from recorder.answers.nouns import is_about_events
from recorder.answers.text.table import Cell, Column, Kind
from recorder.model.document import Document
from recorder.model.entry import Entry, Operation
from recorder.model.reference import Resource

COLUMNS_SHOWN = tuple(
    name
    for name in Entry.__struct_fields__
    if name not in {"entry", "raw", "epoch", "words"}
)
"""Fields of an entry in JSON, after its name and cluster."""


class ShownObject(Document, frozen=True, kw_only=True):
    """An object by its names."""

    api_version: str | None
    kind: str
    namespace: str | None
    name: str
    uid: str | None


def shown_object(newest: Entry, kind: str) -> ShownObject:
    """Return an object by the names in its newest version."""
    identity = newest.identity
    assert identity is not None, "a version is of an object"
    return ShownObject(
        api_version=(newest.resource or "").rpartition("/")[0],
        kind=kind,
        namespace=identity.namespace or None,
        name=identity.name,
        uid=identity.uid,
    )


def listed_entry(
    line: Entry, *, cluster: str, with_document: bool
) -> dict[str, object]:
    """Return an entry as JSON lists it, by column."""
    shown: dict[str, object] = {"entry": line.entry, "cluster": cluster}
    for name in COLUMNS_SHOWN:
        if name == "identity":
            shown["object"] = _object(line)
        else:
            shown[name] = getattr(line, name)
    if with_document:
        shown["raw"] = orjson.Fragment(_on_one_line(line.raw or b"null"))
    return shown


def _on_one_line(raw: bytes) -> bytes:
    # In JSON a line break can only be between tokens, where a space is
    # equivalent; it would break NDJSON.
    if b"\n" in raw or b"\r" in raw:
        return raw.replace(b"\n", b" ").replace(b"\r", b" ")
    return raw


def _object(line: Entry) -> ShownObject | None:
    identity = line.identity
    if identity is None:
        return None
    return ShownObject(
        api_version=_api_version(line),
        kind=identity.kind,
        namespace=identity.namespace or None,
        name=identity.name,
        uid=identity.uid,
    )


def _api_version(line: Entry) -> str | None:
    """Return the ``apiVersion`` of the object, or of the reference to it."""
    identity = line.identity
    assert identity is not None, "asked for an object"
    if line.operation is Operation.AUDIT:
        about = _parsed(line.raw).get("objectRef")
        said = about.get("apiVersion") if isinstance(about, dict) else None
        if isinstance(said, str) and identity.group:
            said = f"{identity.group}/{said}"
    elif not is_about_events(line.resource) and line.resource is not None:
        return Resource.parse(line.resource).api_version
    else:
        said = _regarding(line.raw).get("apiVersion")
    if isinstance(said, str) and said:
        return said
    return built_in_version(identity.group, identity.kind) or identity.group


def _regarding(raw: bytes) -> Mapping[str, object]:
    document = _parsed(raw)
    said = document.get("involvedObject") or document.get("regarding")
    return said if isinstance(said, dict) else {}


def _parsed(raw: bytes) -> Mapping[str, object]:
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    return document if isinstance(document, dict) else {}


def says(line: Entry) -> str:
    """Return a summary of an entry in a few words, empty if it has none."""
    if is_about_events(line.resource):
        document = _parsed(line.raw)
        message = document.get("message") or document.get("note") or ""
        return f"{line.reason or ''}: {message}".strip(": \n")
    return _of_recorder(line)


def _of_recorder(line: Entry) -> str:
    document = _parsed(line.raw) if line.operation in WORDED else {}
    match line.operation:
        case Operation.GAP_OPENED:
            return f"{document['reason']}, since {document['from']}"
        case Operation.GAP_CLOSED:
            return f"{document['reason']}: {document['proved']}"
        case Operation.REFUSED:
            return f"{document['reason']} ({document['length']} bytes)"
        case Operation.EPOCH_BEGAN:
            return f"epoch {document['epoch']}: {document['reason']}"
        case Operation.CLOCK_JUMPED:
            return f"the recorder's clock jumped by {document['seconds']:g} s"
        case _:
            return _of_audit(line)


def _of_audit(line: Entry) -> str:
    if line.operation is not Operation.AUDIT:
        return line.words
    if line.reason is None:
        # Every record has a verb; earlier releases accepted other documents.
        return "not an audit record"
    if line.words and line.occurred_at is None:
        return f"{line.words}, at an unknown time"
    return line.words


WORDED = frozenset(
    {
        Operation.GAP_OPENED,
        Operation.GAP_CLOSED,
        Operation.REFUSED,
        Operation.EPOCH_BEGAN,
        Operation.CLOCK_JUMPED,
    }
)


COLUMNS = (
    Column("ENTRY"),
    Column("OBSERVED", Kind.TIME),
    Column("RESOURCE", rank=3),
    Column("OPERATION", rank=1),
    Column("OBJECT"),
    Column("NODE", rank=2),
    Column("SAYS", characters_max=160),
)


def line_columns(line: Entry) -> list[Cell]:
    """Return an entry as a row of the table."""
    identity = line.identity
    shown = ""
    if identity is not None:
        shown = named(identity.kind.lower(), identity.namespace, identity.name)
    return [
        str(line.entry),
        line.observed_at,
        (line.resource or "").rpartition("/")[2],
        line.operation.value,
        shown,
        line.node or "",
        " ".join(says(line).split()),
    ]
