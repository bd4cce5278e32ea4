"""Load the rules: the shipped ones and those of a site."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from recorder.explain.knowledge.asking import Knowledge
from recorder.explain.knowledge.rules import Rules
from recorder.model.errors import ConfigError
from recorder.model.rules_files import RulesFile

__all__ = ["KnowledgeError", "load", "read_rules", "shipped", "shipped_files"]


class KnowledgeError(ConfigError):
    """A file of rules cannot be used."""

    code = "knowledge.invalid"


@cache
def shipped() -> Knowledge:
    """Return the rules that come with the package."""
    return Knowledge(shipped_files().values())


def load(site: Sequence[str | Path] = ()) -> Knowledge:
    """Return the rules of a site before the shipped ones.

    Raises:
        KnowledgeError: a file cannot be read, or is wrong; the message has
            its name and line.
    """
    if not site:
        return shipped()
    return Knowledge(
        shipped_files().values(), [_read_file(Path(f)) for f in site]
    )


def shipped_files() -> dict[str, Rules]:
    """Return the files of rules that come with the package, by their names."""
    folder = files("recorder.explain.knowledge")
    found = [f for f in folder.iterdir() if f.name.endswith(".yaml")]
    return {
        file.name: read_rules(file.read_text(), name=file.name)
        for file in sorted(found, key=lambda file: file.name)
    }


def read_rules(text: str, *, name: str) -> Rules:
    """Read one file of rules.

    Raises:
        KnowledgeError: the file is wrong; the message has its name and line.
    """
    return _read(RulesFile(name, KnowledgeError), text)


def _read_file(path: Path) -> Rules:
    file = RulesFile(str(path), KnowledgeError)
    return _read(file, file.text())


def _read(file: RulesFile, text: str) -> Rules:
    rules = file.read(text, Rules)
    _refuse_contradictions(rules, file)
    return rules


def _refuse_contradictions(rules: Rules, file: RulesFile) -> None:
    """Refuse one literal with two meanings within a file."""
    known: dict[str, int] = {}
    for place, rule in enumerate(rules.conditions):
        steps = ("conditions", place)
        if rule.when not in {"True", "False", "Unknown"}:
            why = (
                f'"{rule.when}" is not a status; write "True", "False" or'
                ' "Unknown", with quotation marks'
            )
            raise file.fault(steps, why)
        for condition in rule.types:
            if condition in known:
                why = (
                    f'the condition "{condition}" has a rule in line'
                    f" {known[condition]} already"
                )
                raise file.fault(steps, why)
            known[condition] = file.line_at(steps)
