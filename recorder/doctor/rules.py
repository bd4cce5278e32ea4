"""A site's own rules: whether each file can be used."""

from collections.abc import Iterator, Sequence

from recorder.doctor.check import Check
from recorder.knowledge import KnowledgeError, load

__all__ = ["look_at_rules"]

RULES = "knowledge"


def look_at_rules(files: Sequence[str]) -> Iterator[Check]:
    """Look at each file that the settings name."""
    for file in files:
        try:
            load((file,))
        except KnowledgeError as exc:
            yield Check(
                name=RULES,
                ok=False,
                says=str(exc),
                remedy="fix the file, or remove it from the setting"
                " RECORDER_KNOWLEDGE: no verdicts until then",
            )
        else:
            yield Check(name=RULES, ok=True, says=f'"{file}" can be used')
