"""Versions of an object as the public interface shows them."""

from typing import Any

from recorder.documents.changes import actor_document, change_document
from recorder.documents.coverage import CoverageDocument
from recorder.model.moment import optional_time, written
from recorder.questions.history import History, Version
from recorder.questions.ports import Line
from recorder.questions.references import KnownObject

__all__ = [
    "head_document",
    "object_document",
    "tail_document",
    "version_document",
]


def head_document(history: History) -> dict[str, Any]:
    """Return what is said of all versions."""
    return object_document(history.newest, history.found)


def tail_document(history: History) -> dict[str, Any]:
    """Return what is said behind the versions."""
    beats = history.heartbeats
    return {
        "more": history.more,
        "heartbeats": beats
        and {
            "count": beats.count,
            "last_at": optional_time(beats.last_at),
        },
        "coverage": CoverageDocument.of(history.coverage),
    }


def object_document(newest: Line, found: KnownObject) -> dict[str, Any]:
    """Return an object as the public interface names it."""
    identity = newest.identity
    assert identity is not None, "a version is of an object"
    version = (newest.resource or "").rpartition("/")[0]
    return {
        "api_version": version,
        "kind": found.kind.kind,
        "namespace": identity.namespace or None,
        "name": identity.name,
        "uid": identity.uid,
    }


def version_document(version: Version) -> dict[str, Any]:
    """Return a version as the public interface shows it."""
    line = version.line
    return {
        "entry": str(line.entry),
        "operation": line.operation.value,
        "resource_version": line.resource_version,
        "observed_at": written(line.observed_at),
        "uid": version.uid,
        "actor": actor_document(version.managers),
        "changed": [change_document(change) for change in version.changed],
    }
