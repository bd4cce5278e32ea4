"""Folds: facts to what was the case, step by step.

Every fold can stop anywhere and go on from there, and can be made anew from
the facts at any time.
"""

from recorder.projections.node import NodeState, advance

__all__ = ["NodeState", "advance"]
