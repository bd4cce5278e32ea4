"""Audit records in whatever a file has them: a log, a batch, a cloud's export.

What is none of these is handed on as it is, to be kept or refused as any line
that is no record.
"""

from collections.abc import Iterator

import orjson

from recorder.sources.audit import azure_monitor, cloud_logging, cloudwatch

__all__ = ["records_in", "records_of"]

NESTED_MAX = 4
"""A list of messages of lists of records."""


def records_in(line: bytes) -> list[bytes]:
    """Return the records in a line of a file."""
    exported = cloudwatch.EXPORTED.match(line)
    if exported is not None:
        line = line[exported.end() :]
    try:
        document = orjson.loads(line)
    except ValueError:
        return [line]
    found = list(records_of(document))
    # What needs no turning stays as it was written.
    if len(found) == 1 and found[0] is document:
        return [line]
    try:
        return [_written(one) for one in found]
    except orjson.JSONEncodeError:  # more deeply nested than it is written
        return [line]


def records_of(document: object, depth: int = 0) -> Iterator[object]:
    """Yield the records of a document: as text, or as decoded JSON."""
    if isinstance(document, list) and depth < NESTED_MAX:
        for one in document:
            yield from records_of(one, depth + 1)
        return
    if not isinstance(document, dict) or document.get("kind") == "Event":
        yield document
        return
    if document.get("kind") == "EventList":
        yield from document.get("items") or ()
        return
    for shape in (cloudwatch, azure_monitor, cloud_logging):
        found = shape.records(document)
        if found is not None:
            yield from found
            return
    yield document


def _written(record: object) -> bytes:
    if isinstance(record, str):
        return record.encode(errors="surrogatepass")
    return orjson.dumps(record)
