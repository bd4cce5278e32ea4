"""A site's own rules, for `recorder doctor`: whether each file is right."""

from collections.abc import Iterator

from recorder.knowledge import KnowledgeError, load
from recorder.report.checks import Check
from recorder.report.checks.rules import judge_rules
from recorder.settings import Settings

__all__ = ["look_at_rules"]

RULES = "knowledge"


def look_at_rules(settings: Settings) -> Iterator[Check]:
    """Look at each file that the settings name."""
    for file in settings.knowledge:
        trouble = None
        try:
            load((file,))
        except KnowledgeError as exc:
            trouble = str(exc)
        yield judge_rules(RULES, file, trouble)
