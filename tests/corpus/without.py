"""How well incidents are explained without the rules of one controller.

``python -m tests.corpus.without [FILE...]`` takes each shipped file of rules
away in turn, asks every recorded and synthetic incident, and prints a row of
the table in ``tests/corpus/README.md``: of the answers that the file changes,
how many are right all the same, and how many still name the author. Structure
has to give the answer; rules add names and classes. A component that is named
as it writes is right where the file would have said what it is a part of.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from msgspec import structs

from recorder.explain.knowledge import Knowledge, shipped, shipped_files
from recorder.explain.verdict import Verdict
from tests.corpus.judging import Mark
from tests.corpus.make import TAPES
from tests.corpus.tape_lines import read_lines
from tests.corpus.truth import Truth, read_truth
from tests.explain.judged import Judged, judged
from tests.scenarios.telling.classes import CLASSES
from tests.scenarios.telling.marking import misses
from tests.scenarios.telling.registry import INCIDENTS

__all__ = ["main"]


CONTROLLERS = {
    rules.controller.name: rules.controller
    for rules in shipped_files().values()
    if rules.controller is not None
}


@dataclass(frozen=True)
class _Renamed(Judged):
    """A tape whose authors are called as all rules together call them."""

    def verdicts(self, node: str) -> list[Verdict]:
        """Return the verdicts on a node."""
        return [_renamed(verdict) for verdict in super().verdicts(node)]


def _members(tape: Judged) -> list[Any]:
    return [getattr(tape, one.name) for one in fields(tape)]


def _renamed(verdict: Verdict) -> Verdict:
    decision = verdict.decision
    if decision is None or decision.actor.name is None:
        return verdict
    rule = shipped().writers.first(decision.actor.name)
    known = None if rule is None else rule.actor
    known = CONTROLLERS.get(decision.actor.name, known)
    if known is None or known.name is None:
        return verdict
    actor = structs.replace(decision.actor, kind=known.kind, name=known.name)
    decision = structs.replace(decision, actor=actor)
    return structs.replace(verdict, decision=decision)


@dataclass(frozen=True, slots=True)
class _Answer:
    said: Sequence[str]
    mark: Mark
    named: int
    """How many verdicts name who acted."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.without")
    parser.add_argument("files", nargs="*", metavar="FILE")
    wanted = parser.parse_args().files or sorted(shipped_files())
    assert CLASSES, "every incident is registered"
    incidents = dict(_incidents())
    whole = _answers(incidents, shipped())
    print("| without | changed | right | author named | unknown | wrong"
          " | wrong and sure |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for name in wanted:
        rest = [r for file, r in shipped_files().items() if file != name]
        print(
            _row(name, whole, _answers(incidents, Knowledge(rest))), flush=True
        )


def _incidents() -> Iterator[tuple[str, tuple[Truth, Judged]]]:
    for path in sorted(TAPES.glob("*.truth.json")):
        name = path.name.removesuffix(".truth.json")
        tape = read_lines(TAPES / f"{name}.tape.jsonl.zst")
        yield f"recorded {name}", (read_truth(path), judged(tape))
    for name, story in sorted(INCIDENTS.items()):
        answered = story().answered_tape(name)
        yield name, (answered.truth, judged(answered.tape))


def _answers(
    incidents: Mapping[str, tuple[Truth, Judged]], rules: Knowledge
) -> dict[str, _Answer]:
    found = {}
    for name, (truth, one) in incidents.items():
        tape = replace(one, rules=rules)
        nodes = [node.name for node in truth.cluster.nodes]
        verdicts = [v for node in nodes for v in tape.verdicts(node)]
        missed = misses(truth, _Renamed(*_members(tape)))
        found[name] = _Answer(
            [v.sentence for v in verdicts],
            max((mark for mark, _ in missed), default=Mark.RIGHT),
            sum(map(_names, verdicts)),
        )
    return found


def _names(verdict: Verdict) -> bool:
    actor = None if verdict.decision is None else verdict.decision.actor
    return actor is not None and actor.name is not None


def _row(
    name: str, whole: Mapping[str, _Answer], less: Mapping[str, _Answer]
) -> str:
    changed = [n for n in whole if whole[n].said != less[n].said]
    marks = Counter(less[n].mark for n in changed)
    had = [n for n in changed if whole[n].named]
    named = sum(less[n].named >= whole[n].named for n in had)
    cells = [
        f"`{name}`",
        len(changed),
        marks[Mark.RIGHT],
        f"{named} of {len(had)}",
        marks[Mark.UNKNOWN],
        marks[Mark.WRONG],
        marks[Mark.SURE_AND_WRONG],
    ]
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
