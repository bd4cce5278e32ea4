"""The garbage collector, told what a process is like."""

import gc

__all__ = ["calm_collector", "prompt_collector"]

COLLECT_AFTER = 50_000
"""Allocations before the collector looks at the youngest objects: about one
batch. By default it looks at every 700, and finds nothing: what passes intake
forms no cycles."""


def calm_collector() -> None:
    """Have the garbage collector leave alone what lives as long as we do."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 100)


ANSWER_AFTER = 10_000
"""Allocations of about one answer, which leaves cycles behind."""


def prompt_collector() -> None:
    """Have it look at answers, and leave alone what was there before them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(ANSWER_AFTER, 10, 10)
