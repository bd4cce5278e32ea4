"""What changed between two times, as the public interface shows it."""

from typing import Any

from recorder.documents.changes import actor_document, change_document
from recorder.documents.coverage import CoverageDocument
from recorder.documents.history import object_document
from recorder.model.moment import optional_time, written
from recorder.questions.diff import Difference, State

__all__ = ["difference_document"]


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
