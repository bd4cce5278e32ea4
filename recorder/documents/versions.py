"""Versions of an object, and their changes, as the public interface shows."""

from collections.abc import Sequence
from typing import Any

from recorder.classify.changes import Change
from recorder.classify.managers import FieldManager
from recorder.documents.coverage import CoverageDocument
from recorder.model.moment import optional_time, written
from recorder.questions.diff import Difference, State
from recorder.questions.history import History, Version
from recorder.questions.ports import Line
from recorder.questions.references import KnownObject

__all__ = [
    "actor_document",
    "change_document",
    "difference_document",
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


def change_document(change: Change) -> dict[str, Any]:
    """Return a change as the public interface shows it.

    A value that is not there is null; ``change`` tells it from one that is.
    """
    return {
        "path": str(change),
        "change": change.how.value,
        "old": change.old,
        "new": change.new,
    }


def actor_document(
    managers: Sequence[FieldManager],
) -> list[dict[str, Any]] | None:
    """Return those who wrote as the public interface shows them."""
    return [
        {
            "name": manager.name,
            "operation": manager.operation,
            "subresource": manager.subresource,
            "at": optional_time(manager.at),
        }
        for manager in managers
    ] or None


def difference_document(difference: Difference) -> dict[str, Any]:
    """Return what changed from one end to the other."""
    return {
        "object": object_document(difference.newest, difference.found),
        "from": _state(difference.before),
        "to": _state(difference.after),
        "outcome": difference.outcome,
        "actor": actor_document(difference.managers),
        "changed": [change_document(change) for change in difference.changed],
        "coverage": CoverageDocument.of(difference.coverage),
    }


def _state(state: State) -> dict[str, Any]:
    line = state.line
    return {
        "at": optional_time(state.at),
        "state": state.says,
        "entry": line and str(line.entry),
        "operation": line and line.operation.value,
        "resource_version": line and line.resource_version,
        "observed_at": line and written(line.observed_at),
        "uid": state.uid,
    }
