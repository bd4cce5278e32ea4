"""Which version of an object is shown, in words for people."""

from collections.abc import Sequence

from recorder.model.moment import written
from recorder.questions.show import Shown
from recorder.render.history import heartbeat_notes

__all__ = ["shown_notes"]


def shown_notes(shown: Shown) -> Sequence[str]:
    """Say which entry it is."""
    line = shown.line
    version = line.resource_version or "unknown"
    return [
        (
            f"entry {line.entry}: {line.operation.value}, observed"
            f" {written(line.observed_at)}, resource version {version}"
        ),
        *heartbeat_notes(shown.heartbeats),
    ]
