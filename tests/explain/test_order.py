"""No answer depends on the order in which rules and causes are written."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from recorder.explain import faults, links
from recorder.explain.causes import FAULTS
from recorder.explain.knowledge import Knowledge, shipped, shipped_files
from recorder.explain.knowledge.rules import Rules
from recorder.explain.verdict import Verdict
from tests.corpus.make import TAPES
from tests.corpus.tape_lines import read_lines
from tests.explain.judged import Judged, judged

RECORDED = (
    "drain",
    "gpu-xid-79",
    "kernel-deadlock",
    "scale-down",
    "two-reboots",
)
LIVE = ("s10_two_causes_one_minute", "s20_two_persons", "s23_nhc_partition")
PATHS = [
    *(TAPES / f"{name}.tape.jsonl.zst" for name in RECORDED),
    *(TAPES.parent / "live" / f"{name}.tape.jsonl.zst" for name in LIVE),
]


def said(tape: Judged) -> list[Verdict]:
    nodes = sorted({f.fact.node for f in tape.facts if f.fact.node})
    return [v for node in nodes for v in tape.verdicts(node)]


def shuffled(chance: Random, rows: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(chance.sample(rows, len(rows)))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_causes_and_rules_may_be_in_any_order(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tape = judged(read_lines(path))
    first = said(tape)
    chance = Random(path.name)
    assert first

    for _ in range(5):
        files = shuffled(chance, [*shipped_files().values()])
        rows = dict(shuffled(chance, [*FAULTS.items()]))
        monkeypatch.setattr(faults, "FAULTS", rows)
        monkeypatch.setattr(links, "ROWS", shuffled(chance, links.ROWS))
        assert said(dataclasses.replace(tape, rules=Knowledge(files))) == first


def test_a_site_is_asked_first_however_vague_its_rule_is() -> None:
    known = shipped().conditions.first("KernelDeadlock")
    assert known is not None
    vague = replace(known, types=("*",), fault=None)

    rules = Knowledge(shipped_files().values(), [Rules(conditions=[vague])])

    assert rules.conditions.first("KernelDeadlock") == vague


def test_of_shipped_rules_the_more_specific_counts() -> None:
    known = shipped().conditions.first("KernelDeadlock")
    assert known is not None
    vague = replace(known, types=("*",), fault=None)

    for files in (
        [Rules(conditions=[vague]), *shipped_files().values()],
        [*shipped_files().values(), Rules(conditions=[vague])],
    ):
        assert Knowledge(files).conditions.first("KernelDeadlock") == known
