"""Incidents by name, each acted on a stage.

An incident's function sets the scene, says what is true of it, and acts
within `Stage.recording`. Its docstring is what the truth says of it.
"""

import importlib
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.controlplane import Options
from tests.corpus.identities import machines
from tests.corpus.stage import Stage

__all__ = ["INCIDENTS", "Incident", "Story", "everything", "incident"]

Story = Callable[[Stage], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """A story, and the cluster that it needs."""

    name: str
    story: Story
    options: Options
    without_events: tuple[str, ...] = ()
    """Reasons of Events that never reach the tape."""

    @property
    def says(self) -> str:
        """What happens, in words."""
        return " ".join((inspect.getdoc(self.story) or "").split())


INCIDENTS: dict[str, Incident] = {}


def incident(
    name: str,
    *,
    nodes: int,
    racks: int = 3,
    facts: dict[str, Any] | None = None,
    without_events: tuple[str, ...] = (),
    **options: Any,
) -> Callable[[Story], Story]:
    """Register a story under a name, with the cluster that it needs.

    ``facts`` are those of its machines, ``options`` those of its cluster.
    """

    def register(story: Story) -> Story:
        assert name not in INCIDENTS, name
        INCIDENTS[name] = Incident(
            name=name,
            story=story,
            options=Options(
                machines=machines(name, nodes, racks=racks, **(facts or {})),
                json_storage=False,
                **options,
            ),
            without_events=without_events,
        )
        return story

    return register


def everything() -> dict[str, Incident]:
    """Return every incident, by name."""
    folder = Path(__file__).with_name("incidents")
    for path in sorted(folder.glob("*.py")):
        importlib.import_module(f"tests.corpus.incidents.{path.stem}")
    return INCIDENTS
