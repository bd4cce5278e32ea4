"""What signals mean, as data: one file of rules for each controller.

It has literals and what they are evidence for. `explain` defines how evidence
becomes a verdict.
"""

from recorder.explain.knowledge.asking import Knowledge, matches
from recorder.explain.knowledge.loading import (
    KnowledgeError,
    load,
    shipped,
    shipped_files,
)
from recorder.explain.knowledge.rules import ActorName

__all__ = [
    "ActorName",
    "Knowledge",
    "KnowledgeError",
    "load",
    "matches",
    "shipped",
    "shipped_files",
]
