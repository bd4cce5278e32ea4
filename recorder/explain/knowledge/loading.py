"""Load the rules: the shipped ones and those of a site."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from recorder.explain.knowledge.asking import Knowledge
from recorder.explain.knowledge.claiming import wrong_schema, zone_of
from recorder.explain.knowledge.rules import ClaimType, Rules
from recorder.model.errors import ConfigError
from recorder.model.outcomes import Role
from recorder.model.place import Place, PlaceKind
from recorder.model.rules_files import RulesFile


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
    found = [
        file
        for place in (folder, folder / "types")
        for file in place.iterdir()
        if file.name.endswith(".yaml")
    ]
    return {
        file.name: read_rules(
            RulesFile(file.name, KnowledgeError, ours=True), file.read_text()
        )
        for file in sorted(found, key=lambda file: file.name)
    }


def _read_file(path: Path) -> Rules:
    file = RulesFile(str(path), KnowledgeError)
    rules = read_rules(file, file.text())
    for place, kind in enumerate(rules.types):
        # Tests check the shipped ones: it takes as long as a command.
        if (why := wrong_schema(kind.data)) is not None:
            steps = ("types", place, "data")
            raise file.fault(steps, f"it is no JSON Schema: {why}")
    return rules


def read_rules(file: RulesFile, text: str) -> Rules:
    """Read the rules in the text of a file.

    Raises:
        KnowledgeError: it is wrong; the message has its name and line.
    """
    rules = file.read(text, Rules)
    _refuse_contradictions(rules, file)
    for place, kind in enumerate(rules.types):
        _refuse_useless(kind, file, ("types", place))
    for place, rule in enumerate(rules.places):
        for name in (rule.parent, *rule.children):
            try:
                Place.parse(name)
            except ValueError as exc:
                raise file.fault(("places", place), str(exc)) from exc
    return rules


def _refuse_useless(
    kind: ClaimType, file: RulesFile, steps: tuple[str | int, ...]
) -> None:
    """Refuse a type by which no claim could mean what its file says."""
    if kind.time is not None and zone_of(kind.time.zone) is None:
        why = f'"{kind.time.zone}" is no known time zone, such as Europe/Rome'
        raise file.fault((*steps, "time", "zone"), why)
    for about in kind.about:
        if about != "*" and about not in set(PlaceKind):
            why = f'"{about}" is no kind of place: {", ".join(PlaceKind)}, "*"'
            raise file.fault((*steps, "about"), why)
    for place, rule in enumerate(kind.claims):
        why = {
            Role.FAULT: "a fault has its class: add `fault`",
            Role.DECISION: "a decision has its class: add `decision`",
        }.get(rule.role, "")
        if why and rule.fault is None and rule.decision is None:
            raise file.fault((*steps, "claims", place), why)


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
