"""The garbage collector, tuned for what a process does."""

import atexit
import gc

COLLECT_AFTER = 50_000
"""Allocations before the collector examines the youngest objects: about one
batch. By default it does every 700, and finds nothing: objects that pass
intake form no cycles."""

ANSWER_AFTER = 10_000
"""Allocations of about one response, which leaves cycles behind."""


def calm_collector() -> None:
    """Keep the garbage collector from examining permanent objects."""
    _freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 100)


def prompt_collector() -> None:
    """Collect the cycles of responses, and skip the objects before them."""
    _freeze()
    gc.set_threshold(ANSWER_AFTER, 10, 10)


def _freeze() -> None:
    gc.collect()
    gc.freeze()
    # Modules of C++ report what is not collected at the end as leaked.
    atexit.register(gc.unfreeze)
