"""The parts of the documentation that say how causes are found."""

from collections.abc import Mapping
from importlib.resources import files

from recorder.explain.causes import (
    DECISIONS,
    FAULTS,
    DecisionRow,
    FaultRow,
)
from recorder.explain.knowledge import KnowledgeError
from recorder.explain.knowledge.loading import read_rules
from recorder.model.outcomes import Decision, Fault
from recorder.model.rules_files import RulesFile

__all__ = ["controllers", "decisions", "faults"]


def decisions() -> str:
    """Return every decision, in the order in which they are asked."""
    return _table("decision", DECISIONS)


def faults() -> str:
    """Return every fault, in the order in which they are asked."""
    return _table("fault", FAULTS)


def _table(
    what: str,
    causes: Mapping[Decision, DecisionRow] | Mapping[Fault, FaultRow],
) -> str:
    rows = [
        f"| `{name}` | {cause.signature} |"
        f" {'<br>'.join(f'{one}' for one in cause.lookalikes)} |"
        for name, cause in causes.items()
    ]
    head = f"| {what} | signature | what looks like it |\n|---|---|---|"
    return "\n".join([head, *rows])


def controllers() -> str:
    """Return every shipped file of rules with how much it knows."""
    rows = []
    folder = files("recorder.explain.knowledge")
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if not file.name.endswith(".yaml"):
            continue
        rules = read_rules(
            RulesFile(file.name, KnowledgeError), file.read_text()
        )
        kinds = {
            "conditions": sum(len(r.types) for r in rules.conditions),
            "Events": sum(len(r.reasons) for r in rules.events),
            "annotations": len(rules.annotations),
            "labels": len(rules.labels),
            "taints": len(rules.taints),
            "objects": sum(len(r.kinds) for r in rules.objects),
            "locks": len(rules.locks),
            "writers": len(rules.writers),
        }
        known = ", ".join(
            f"{n} {kind if n > 1 else kind.removesuffix('s')}"
            for kind, n in kinds.items()
            if n
        )
        name = rules.controller.name if rules.controller is not None else ""
        rows.append(f"| `{file.name}` | {name} | {known} |")
    head = "| file | who acts | rules |\n|---|---|---|"
    return "\n".join([head, *rows])
