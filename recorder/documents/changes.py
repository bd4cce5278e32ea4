"""Changes and who made them, as the public interface shows them."""

from collections.abc import Sequence
from typing import Any

from recorder.classify.changes import Change
from recorder.classify.managers import FieldManager
from recorder.model.moment import optional_time

__all__ = ["actor_document", "change_document"]


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
