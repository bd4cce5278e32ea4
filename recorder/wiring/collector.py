"""The garbage collector, told what a recording is like."""

import gc

__all__ = ["calm_collector"]

COLLECT_AFTER = 50_000
"""Allocations before the collector looks at the youngest objects: about one
batch. By default it looks at every 700, and finds nothing: what passes intake
forms no cycles."""


def calm_collector() -> None:
    """Have the garbage collector leave alone what lives as long as we do."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 100)
