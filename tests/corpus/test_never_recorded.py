"""A resource that was never recorded is named if it would have shown more."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recorder.answers.impact import ask_impact, shown
from recorder.answers.incidents import ask_incidents
from recorder.answers.node_questions import (
    ImpactQuestion,
    IncidentsQuestion,
    WhyQuestion,
)
from recorder.answers.why import ask_why
from recorder.explain.knowledge import shipped
from recorder.explain.verdict import Verdict
from recorder.facts.coverage.coverage import Coverage
from recorder.model.window import Window
from tests.corpus.blind.sets import SETS
from tests.corpus.logs import play, reading_of, tape_of, truth_of
from tests.corpus.tape_lines import (
    Lines,
    changed_objects,
    read_lines,
    write_lines,
)
from tests.corpus.truth import read_truth
from tests.support.postgres import Database

EVER = Window(None, None)
EVENTS, PODS = "v1/events", "v1/pods"
LEASES = "coordination.k8s.io/v1/leases"


class Answers(NamedTuple):
    """The answers of a log without a resource: why, impact and incidents."""

    verdict: Verdict
    why: Coverage
    impact: Coverage
    incidents: Coverage


async def answers_without(
    resource: str | None, name: str, database: Database, folder: Path
) -> Answers:
    """Return answers about an incident, with one resource not recorded."""
    whole = read_lines(tape_of(name))
    left = [f for f in whole.frames if f.get("resource") != resource]
    path = folder / "narrow.tape.jsonl.zst"
    write_lines(path, Lines(whole.header, left))
    node = read_truth(truth_of(name)).verdicts[0].node
    log = await play(database.dsn("writer"), path, name=name)
    async with reading_of(database.dsn("reader"), log) as reading:
        now = reading.log.recorded_at
        assert now is not None
        rules = shipped()
        asked = WhyQuestion(node=node, window=EVER)
        why = await ask_why(reading, asked, rules, now=now)
        hit = ImpactQuestion(nodes=(node,), rack=None, labels=(), window=EVER)
        impact = await ask_impact(reading, hit, rules, now=now)
        fleet = IncidentsQuestion(window=EVER)
        incidents = await ask_incidents(reading, fleet, rules, now=now)
    (verdict,) = why.verdicts
    return Answers(verdict, why.coverage, impact.coverage, incidents.coverage)


@pytest.mark.parametrize(
    ("name", "resource", "evidence"),
    [
        ("drain", PODS, "pods"),
        ("crash", LEASES, "leases"),
        ("crash", EVENTS, "events"),
        ("network-partition", LEASES, "leases"),
    ],
)
async def test_a_verdict_names_what_was_never_recorded(
    database: Database,
    tmp_path: Path,
    name: str,
    resource: str,
    evidence: str,
) -> None:
    found = await answers_without(resource, name, database, tmp_path)

    named = {missing.evidence for missing in found.verdict.missing}
    assert named & {"events", "leases", "pods"} == {evidence}
    assert found.why.complete


@pytest.mark.parametrize("name", ["drain", "crash", "network-partition"])
async def test_a_verdict_names_nothing_that_was_recorded(
    database: Database, tmp_path: Path, name: str
) -> None:
    found = await answers_without(None, name, database, tmp_path)

    named = {missing.evidence for missing in found.verdict.missing}
    assert not named & {"events", "leases", "pods"}
    assert found.impact.complete
    assert found.incidents.complete


async def test_without_pods_no_answer_claims_that_no_work_was_hit(
    database: Database, tmp_path: Path
) -> None:
    found = await answers_without(PODS, "crash", database, tmp_path)

    for coverage in (found.impact, found.incidents):
        (hole,) = coverage.holes
        assert (hole.resource, hole.reason) == (PODS, "never recorded")
        assert not coverage.complete


async def test_what_owns_a_workload_may_not_be_recorded(
    database: Database, tmp_path: Path
) -> None:
    """Two parts of one workload are two workloads in the answer, which says
    so, if not even their labels name the whole.
    """
    (blind,) = (one for one in SETS if one.name == "blind2")
    name = "c14_grove_cliques"
    whole = read_lines(blind.folder / f"{name}.tape.jsonl.zst")
    left = [changed_objects(frame, unlabelled) for frame in whole.frames]
    path = tmp_path / "unlabelled.tape.jsonl.zst"
    write_lines(path, Lines(whole.header, left))
    log = await play(database.dsn("writer"), path, name=name)
    async with reading_of(database.dsn("reader"), log) as reading:
        now = reading.log.recorded_at
        assert now is not None
        hit = ImpactQuestion(
            nodes=("gv-2",), rack=None, labels=(), window=EVER
        )
        impact = await ask_impact(reading, hit, shipped(), now=now)
    text = shown(impact, hit, verbose=False)
    assert len(impact.workloads) == 2
    assert "what owns a PodClique is not recorded" in text.after[-1]


def unlabelled(item: dict[str, Any]) -> dict[str, Any]:
    """Return an object without labels."""
    return item | {"metadata": {**item["metadata"], "labels": {}}}
