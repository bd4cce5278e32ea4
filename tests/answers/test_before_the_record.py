"""What is said of the time before recording began, with and without a window.

A recorder that began while a gang was down read of the past what the API
server still had. Beside it is the log of one that was there all the time.
"""

from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from recorder.answers.impact import ask_impact
from recorder.answers.incidents import Incident, ask_incidents
from recorder.answers.naming import Reference
from recorder.answers.node_questions import (
    ImpactQuestion,
    IncidentsQuestion,
    StatsQuestion,
    WhyQuestion,
    WhyWorkloadQuestion,
)
from recorder.answers.ports import Reading
from recorder.answers.stats import ask_stats
from recorder.answers.why import ask_why
from recorder.answers.why_workload import ask_why_workload
from recorder.explain.knowledge import shipped
from recorder.explain.steps import LAST_SIGN
from recorder.facts.coverage.coverage import Coverage
from recorder.model.window import Window
from tests.corpus.beginning import begun
from tests.corpus.logs import play_in_turn, reading_of, tape_of
from tests.corpus.tape_lines import read_lines, write_lines
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer

BEGAN = datetime.fromisoformat("2026-11-21T14:03:36Z")
NOW = datetime.fromisoformat("2026-11-22T00:00:00Z")

WHOLE = Window()
WIDE = Window(datetime.fromisoformat("2026-11-21T14:00:00Z"), None)
"""From before anything that was recorded."""

LATER = "recording started later"

AFTERWARDS = {
    "spot-interruption": "2026-11-21T13:59:44.462000Z",
    "rack-loss-jobset": "2026-11-21T13:51:13.350000Z",
}
"""When a recorder began that read of the past that a gang ran again."""


@pytest.fixture(scope="module")
def logs(
    embedded_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """Log 1 began while the gang was down, log 2 before that.

    Then logs of other incidents, each begun after it and before it.
    """
    folder = tmp_path_factory.mktemp("begun")
    tapes: dict[str, Path] = {}
    for name, at in {"crash": f"{BEGAN:%FT%T.%f}Z", **AFTERWARDS}.items():
        whole, later = tape_of(name), folder / f"{name}.tape.jsonl.zst"
        write_lines(later, begun(read_lines(whole), at))
        tapes |= {f"{name}-later": later, name: whole}
    with filled_database(
        embedded_server, lambda dsn: play_in_turn(dsn, tapes)
    ) as database:
        yield database


@pytest.fixture
async def later(logs: Database) -> AsyncIterator[Reading]:
    async with reading_of(logs.dsn("reader"), 1) as reading:
        yield reading


@pytest.fixture
async def whole(logs: Database) -> AsyncIterator[Reading]:
    async with reading_of(logs.dsn("reader"), 2) as reading:
        yield reading


async def coverages(reading: Reading, window: Window) -> dict[str, Coverage]:
    """Ask what speaks of the crash; return what each says is missing."""
    knowledge = shipped()
    gang = Reference.parse("job/train/llm-pretrain")
    incidents = await ask_incidents(
        reading, IncidentsQuestion(window=window), knowledge, now=NOW
    )
    stats = await ask_stats(
        reading, StatsQuestion(window=window), knowledge, now=NOW
    )
    impact = await ask_impact(
        reading,
        ImpactQuestion(nodes=("gpu-002",), window=window),
        knowledge,
        now=NOW,
    )
    why = await ask_why(
        reading, WhyQuestion(node="gpu-002", window=window), knowledge, now=NOW
    )
    ended = await ask_why_workload(
        reading,
        WhyWorkloadQuestion(object=gang, window=window),
        knowledge,
        now=NOW,
    )
    assert all((incidents.incidents, impact.workloads, ended.endings))
    assert all((stats.totals.incidents, why.verdicts))
    return {
        "incidents": incidents.coverage,
        "stats": stats.coverage,
        "impact": impact.coverage,
        "why": why.coverage,
        "why of a job": ended.coverage,
    }


@pytest.mark.parametrize("window", [WHOLE, WIDE], ids=["whole", "wide"])
async def test_what_is_said_of_the_time_before_is_incomplete(
    later: Reading, window: Window
) -> None:
    for asked, coverage in (await coverages(later, window)).items():
        holes = {hole.reason: hole for hole in coverage.holes}
        assert not coverage.complete, asked
        assert holes[LATER].until == BEGAN, asked
        assert coverage.window.since is not None, asked
        assert coverage.window.since < BEGAN, asked


async def test_what_was_recorded_from_its_beginning_is_complete(
    whole: Reading,
) -> None:
    for asked, coverage in (await coverages(whole, WHOLE)).items():
        assert coverage.complete, asked
        assert coverage.window.since is None, asked


async def test_a_window_changes_no_loss(later: Reading) -> None:
    lost = []
    for window in (WHOLE, WIDE):
        found = await ask_incidents(
            later, IncidentsQuestion(window=window), shipped(), now=NOW
        )
        lost.append([hit for one in found.incidents for hit in one.hits])

    assert lost[0] == lost[1]
    assert sum(hit.gpu_hours_lost for hit in lost[0]) > 0


async def test_no_share_of_the_time_before_is_vouched_for(
    later: Reading, whole: Reading
) -> None:
    shares = [
        (
            await ask_stats(
                reading, StatsQuestion(window=WHOLE), shipped(), now=NOW
            )
        ).vouched
        for reading in (later, whole)
    ]

    assert shares[0] is not None
    assert shares[0] < 0.8, "of a minute, more than ten seconds were unheard"
    assert shares[1] == 1.0


async def lost(reading: Reading) -> tuple[list[Incident], float]:
    """Return the incidents of a log, and the GPU-hours that they lost."""
    found = await ask_incidents(
        reading, IncidentsQuestion(window=WHOLE), shipped(), now=NOW
    )
    hits = [hit for one in found.incidents for hit in one.hits]
    return [*found.incidents], sum(h.gpu_hours_attributed for h in hits)


@pytest.mark.parametrize("log", [1, 3, 5], ids=["crash", *AFTERWARDS])
async def test_what_was_read_of_the_past_makes_no_loss_larger(
    logs: Database, log: int
) -> None:
    dsn = logs.dsn("reader")
    async with reading_of(dsn, log) as later, reading_of(dsn, log + 1) as all_:
        incidents, hours = await lost(later)
        there, true = await lost(all_)

    assert 0 < hours <= true
    begun_at = {one.first.node: one.since for one in there}
    for one in incidents:
        assert one.since >= begun_at[one.first.node], "by no older sign"


async def test_a_gang_runs_again_when_its_pods_do_and_not_at_the_list(
    later: Reading, whole: Reading
) -> None:
    ((found,), _), ((true,), _) = await lost(later), await lost(whole)
    (hit,), (was,) = found.hits, true.hits

    assert (hit.running_again_at, hit.outcome, hit.gang_size) == (
        was.running_again_at,
        was.outcome,
        was.gang_size,
    )


async def test_what_shows_a_loss_is_no_proof_of_life(
    later: Reading, whole: Reading
) -> None:
    ((found,), _), ((true,), _) = await lost(later), await lost(whole)
    down, was = found.first.down, true.first.down

    assert down is not None
    assert was is not None
    assert down.length >= was.length, "it is at most that"


@pytest.mark.parametrize("log", [1, 2], ids=["later", "whole"])
async def test_the_last_sign_of_life_is_that_of_its_entry(
    logs: Database, log: int
) -> None:
    async with reading_of(logs.dsn("reader"), log) as reading:
        ((incident,), _) = await lost(reading)
    verdict = incident.first
    (step,) = [one for one in verdict.steps if one.says == LAST_SIGN]
    (proof,) = [
        e.sign.stored
        for e in verdict.evidence
        if e.sign.stored.entry == step.entries[0]
    ]

    assert step.at == proof.at == verdict.not_before
