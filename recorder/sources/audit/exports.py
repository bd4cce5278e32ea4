"""Records and objects in any file that has them: a log, a batch, an export.

Audit records, and objects of a cluster with their Events, bare or in lists and
the wrappers of clouds and log collectors. Other documents are named: what each
seems to be, and what to export instead.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from recorder.facts.classify import is_audit_record, lacks_of_record
from recorder.sources.audit import azure_monitor, cloud_logging, cloudwatch
from recorder.sources.files import Document, State

NESTED_MAX = 12
"""A list of rows of a result of a response, each with a text that is JSON."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record, as the API server wrote it if that is known."""

    raw: bytes


@dataclass(frozen=True, slots=True)
class Thing:
    """An object of a cluster, or an Event."""

    document: Mapping[str, Any]
    raw: bytes | None = None
    """As it was written, if it was a document of its own."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that is neither."""

    reason: str


@dataclass(frozen=True, slots=True)
class Cut:
    """The beginning of a document."""

    reason: str


@dataclass(frozen=True, slots=True)
class Other:
    """A line of another log in the same file: no audit record is missing."""


Found = Record | Thing | Refused | Cut | Other

HELD = (
    ("_source",),  # Elasticsearch, a hit
    ("kubernetes", "audit"),  # Elastic's integration
    ("kubernetes.audit",),
    ("hits",),
    ("@message",),  # CloudWatch Logs Insights
    ("message",),  # CloudWatch, Filebeat, Fluent Bit, Logstash
    ("line",),  # Loki, logcli
    ("Line",),  # Loki, Grafana's table
    ("values",),  # Loki, a stream
    ("_raw",),  # Splunk
    ("log_s",),  # Azure, AzureDiagnostics
    ("log",),  # Docker, Fluent Bit
    ("result",),
    ("results",),
    ("data",),
    ("events",),
    ("logEvents",),
    ("records",),
    ("entries",),
    ("value",),
    ("properties",),
    ("_source", "message"),
)
"""Members that hold records in documents of log collectors and exports."""

_KLOG = re.compile(r"[IWEF]\d{4} \d\d:\d\d:\d\d")
SHOWN = 60


def found_in(document: Document) -> Iterator[Found]:
    """Yield the contents of a document of a file."""
    match document.state:
        case State.CUT:
            yield Cut(document.why)
        case State.TOO_LARGE:
            yield Refused("it is too large for a record")
        case State.TEXT:
            yield _no_json(document.raw.decode(errors="replace"))
        case State.WHOLE:
            yield from _found_in(document.raw)


def _found_in(raw: bytes) -> Iterator[Found]:
    if is_audit_record(raw):
        yield Record(raw)
        return
    try:
        document = orjson.loads(raw)
    except ValueError:
        # A text with half a character, or nested too deeply.
        yield Refused("it cannot be decoded as JSON")
        return
    if _is_thing(document):
        yield Thing(document, raw)
    else:
        yield from _of(document, 0)


def _of(document: object, depth: int) -> Iterator[Found]:
    if depth > NESTED_MAX:
        yield Refused("it is nested too deep")
    elif isinstance(document, dict):
        yield from _of_object(document, depth)
    elif isinstance(document, list):
        yield from _of_list(document, depth)
    elif isinstance(document, str):
        yield from _of_text(document, depth)
    else:
        yield Refused(f"it is not a JSON object: {str(document)[:SHOWN]}")


def _of_list(document: list[Any], depth: int) -> Iterator[Found]:
    row = cloudwatch.row(document)
    if row is not None:
        yield from _of(row, depth + 1)
    # A time and a line, of Loki.
    elif len(document) == 2 and all(isinstance(o, str) for o in document):  # noqa: PLR2004
        yield from _of(document[1], depth + 1)
    else:
        for one in document:
            yield from _of(one, depth + 1)


def _of_text(text: str, depth: int) -> Iterator[Found]:
    if not text.lstrip().startswith(("{", "[")):
        yield _no_json(text)
        return
    try:
        document = orjson.loads(text)
    except ValueError:
        yield Cut("it was cut off before it was exported")
        return
    raw = text.strip().encode(errors="surrogatepass")
    if is_audit_record(raw):
        yield Record(raw)
    else:
        yield from _of(document, depth + 1)


def _of_object(document: Mapping[str, Any], depth: int) -> Iterator[Found]:
    if lacks_of_record(document) == "":
        yield _record(document)
        return
    if _is_thing(document):
        yield Thing(document)
        return
    if str(document.get("kind", "")).endswith("List") and "items" in document:
        # Of an empty list, a client in Go writes null.
        items = document["items"] or []
        for one in items if isinstance(items, list) else [items]:
            yield from _of(_named(one, document), depth + 1)
        return
    named = document.get("apiVersion") or document.get("kind")
    held = None if named else _held(document)
    if held is None:
        yield Refused(seems(document))
        return
    for one in held:
        if one is None:
            yield Other()
        else:
            yield from _of(one, depth + 1)


def _is_thing(document: object) -> bool:
    """Return whether a document is one object of a cluster, or an Event.

    The kubernetes-event-exporter writes Events without their kind, and lists
    may have it once.
    """
    if not isinstance(document, dict):
        return False
    metadata = document.get("metadata")
    if not isinstance(metadata, dict) or not metadata.get("name"):
        return False
    kind, version = document.get("kind"), document.get("apiVersion")
    if kind or version:
        is_audit = str(version).startswith("audit.k8s.io/")
        return bool(kind and version) and not is_audit
    if isinstance(document.get("involvedObject"), dict):
        return True
    parts = ("spec", "status")
    return any(isinstance(document.get(part), dict) for part in parts)


def _named(item: object, of: Mapping[str, Any]) -> object:
    """Return an item of a list with the kind that only its list states."""
    if not isinstance(item, dict) or item.get("kind"):
        return item
    kind = str(of["kind"]).removesuffix("List")
    return (
        item | {"kind": kind, "apiVersion": of.get("apiVersion")}
        if kind
        else item
    )


def _held(document: Mapping[str, Any]) -> Iterator[object] | None:
    """Return the contents of an exported document; None if it is not one.

    Also None for a document of another log.
    """
    for shape in (cloud_logging, azure_monitor, cloudwatch):
        found: Iterator[object] | None = shape.records(document)
        if found is not None:
            return found
    empty: Iterator[object] | None = None
    for path in HELD:
        held: Any = document
        for name in path:
            held = held.get(name) if isinstance(held, dict) else None
        if isinstance(held, str | list | dict):
            if held:
                return iter([held])
            empty = empty or iter([held])
    return empty


def _record(document: Mapping[str, Any]) -> Found:
    try:
        return Record(orjson.dumps(document))
    except orjson.JSONEncodeError:
        return Refused("it is nested too deep")


def _no_json(text: str) -> Found:
    if _KLOG.match(text):
        return Other()
    return Refused(f"a line of text, not JSON: {text[:SHOWN].strip()!r}")


def seems(document: Mapping[str, Any]) -> str:
    """Return what a document seems to be, and what to export instead."""
    version, kind = document.get("apiVersion"), document.get("kind")
    if str(version).startswith("audit.k8s.io/") and kind == "Event":
        return f"an audit record without {lacks_of_record(document)}"
    if version or kind:
        named = " ".join(
            str(o)[:SHOWN]
            for o in ("core/v1" if version == "v1" else version, kind)
            if o
        )
        return f"a {named}, not an audit record"
    for members, says in SEEMS:
        if members <= document.keys():
            return says
    if any(name.startswith("kubernetes.audit.") for name in document):
        return (
            "a record whose members are columns of their own: export the"
            " documents whole (_source)"
        )
    names = ", ".join(sorted(document)[:5])[:SHOWN]
    return f"JSON, but not an audit record: it has {names or 'no members'}"


SEEMS = (
    (
        frozenset({"eventVersion", "eventSource"}),
        (
            "an event of CloudTrail, which records the API of AWS: export the"
            " log group /aws/eks/CLUSTER/cluster"
        ),
    ),
    (
        frozenset({"rule", "priority", "output"}),
        "an alert of Falco, not an audit record",
    ),
    (
        frozenset({"@ptr"}),
        (
            "a CloudWatch Insights answer without @message: add it to the"
            " query, or export the log stream"
        ),
    ),
    (
        frozenset({"logName", "timestamp"}),
        "an entry of Cloud Logging without a Kubernetes audit record",
    ),
    (
        frozenset({"messageType", "logGroup"}),
        "a message of CloudWatch without log events",
    ),
    (
        frozenset({"specversion", "source"}),
        "a CloudEvent, not an audit record",
    ),
)
"""Documents by their members: those easily mistaken for records."""
