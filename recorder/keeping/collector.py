"""The garbage collector, tuned for what a process does."""

import gc

__all__ = ["calm_collector", "prompt_collector"]

COLLECT_AFTER = 50_000
"""Allocations before the collector examines the youngest objects: about one
batch. By default it does every 700, and finds nothing: objects that pass
intake form no cycles."""


def calm_collector() -> None:
    """Keep the garbage collector from examining permanent objects."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 100)


ANSWER_AFTER = 10_000
"""Allocations of about one response, which leaves cycles behind."""


def prompt_collector() -> None:
    """Collect the cycles of responses, and skip the objects before them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(ANSWER_AFTER, 10, 10)
