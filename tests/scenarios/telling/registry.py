"""The incidents by name."""

from collections.abc import Callable

from tests.scenarios.telling.scene import Scene

__all__ = ["INCIDENTS", "Story", "incident"]

Story = Callable[[], Scene]

INCIDENTS: dict[str, Story] = {}


def incident(story: Story) -> Story:
    """Know an incident by the name of its function."""
    INCIDENTS[story.__name__.replace("_", "-")] = story
    return story
