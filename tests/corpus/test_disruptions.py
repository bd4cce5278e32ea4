"""What ended a workload: disruptions that are no failure of one node.

Each tape of `disruptions` is played into a log of its own, and asked as
`recorder why` and `recorder impact` ask.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from recorder.answers.impact import Impact, ask_impact
from recorder.answers.incidents import ask_incidents
from recorder.answers.naming import Reference
from recorder.answers.node_questions import (
    ImpactQuestion,
    IncidentsQuestion,
    WhyWorkloadQuestion,
)
from recorder.answers.ports import Reading
from recorder.answers.why_workload import (
    WhyWorkload,
    ask_why_workload,
    why_workload_lines,
)
from recorder.explain.knowledge import shipped
from recorder.model.outcomes import EndedBy, HitBy, Outcome, WorkloadState
from recorder.model.window import Window
from tests.corpus.conftest import Corpus
from tests.corpus.live.asking import LIVE
from tests.corpus.logs import play, play_tapes, reading_of
from tests.corpus.tape_lines import write_lines
from tests.scenarios.remediation.strangers import (
    a_device_is_tainted_and_its_pods_are_deleted,
)
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer

TAPES = Path(__file__).parent / "disruptions"
ODD = TAPES.with_name("odd")
OF_ODD = (
    "t01_descheduler",
    "t12_preemption_and_failure",
    "t13_own_failures_then_crash",
)
OF_LIVE = (
    "s02_kueue_preempts",
    "s03_lws_group",
    "s13_rolling_upgrade",
    "s15_flaps_then_request",
)


@pytest.fixture(scope="module")
def played(embedded_server: DatabaseServer) -> Iterator[Corpus]:
    logs: dict[str, int] = {}
    tapes = {path.name.partition(".")[0]: path for path in TAPES.glob("*.zst")}
    for folder, names in ((LIVE, OF_LIVE), (ODD, OF_ODD)):
        tapes |= {name: folder / f"{name}.tape.jsonl.zst" for name in names}

    async def fill(writer: str) -> None:
        logs.update(await play_tapes(writer, tapes))

    with filled_database(embedded_server, fill) as database:
        yield Corpus(database, logs)


@asynccontextmanager
async def reading(played: Corpus, name: str) -> AsyncIterator[Reading]:
    dsn = played.database.dsn("reader")
    async with reading_of(dsn, played.logs[name]) as opened:
        yield opened


async def why(
    played: Corpus, name: str, workload: str, *, until: datetime | None = None
) -> WhyWorkload:
    async with reading(played, name) as opened:
        now = until or opened.log.recorded_at
        assert now is not None
        question = WhyWorkloadQuestion(
            object=Reference.parse(workload),
            window=Window(None, until),
            at=None,
        )
        return await ask_why_workload(opened, question, shipped(), now=now)


async def impact(
    played: Corpus, name: str, *nodes: str, until: datetime | None = None
) -> Impact:
    async with reading(played, name) as opened:
        now = until or opened.log.recorded_at
        assert now is not None
        question = ImpactQuestion(
            nodes=nodes, rack=None, labels=(), window=Window(None, until)
        )
        return await ask_impact(opened, question, shipped(), now=now)


async def test_one_ending_has_every_node_and_its_verdict(
    played: Corpus,
) -> None:
    found = await why(played, "three_crashes", "job/train/llm-pretrain")

    (ending,) = found.endings
    assert ending.nodes == ["gpu-002", "gpu-003", "gpu-001"]
    assert [one.node for one in ending.verdicts] == ending.nodes
    assert ending.verdict == ending.verdicts[0]
    assert {(one.pod[:14], one.node) for one in ending.members} == {
        ("llm-pretrain-0", "gpu-003"),
        ("llm-pretrain-1", "gpu-002"),
        ("llm-pretrain-2", "gpu-001"),
    }
    assert ending.id == ending.members[0].entry
    assert "on gpu-002, gpu-003 and gpu-001" in ending.sentence
    assert found.state is WorkloadState.DOWN


async def test_a_member_that_a_gang_stopped_is_lost_on_its_node(
    played: Corpus,
) -> None:
    found = await why(
        played, "s03_lws_group", "leaderworkerset/serving/deepseek"
    )

    (ending,) = found.endings
    assert ending.nodes == ["iw-1", "iw-2"]
    assert [one.node for one in ending.verdicts] == ["iw-1"]
    assert {one.pod for one in ending.members} == {
        *ending.pods,
        *ending.stopped,
    }


@pytest.mark.parametrize(
    ("workload", "author"),
    [
        ("job/train/svc", "sigs.k8s.io/descheduler"),
        ("job/train/api", "vpa-updater"),
    ],
)
async def test_an_eviction_from_a_healthy_node_is_no_drain(
    played: Corpus, workload: str, author: str
) -> None:
    found = await why(played, "descheduler_vpa", workload)

    (ending,) = found.endings
    assert ending.ended_by is EndedBy.EVICTION
    assert ending.actor is not None
    assert ending.actor.name == author
    assert f"by {author}" in ending.sentence


async def test_impact_lists_an_eviction_without_a_verdict(
    played: Corpus,
) -> None:
    found = await impact(played, "t01_descheduler", "ub-1")

    (hit,) = found.workloads
    assert (hit.name, hit.hit_by) == ("sweep-c", HitBy.EVICTION)
    assert hit.gpu_hours_attributed == hit.gpu_hours_lost > 0


async def test_impact_of_a_node_is_what_its_own_failure_cost(
    played: Corpus,
) -> None:
    """Not what the same Job lost with another node two minutes before."""
    apart = [await impact(played, "two_crashes", f"gpu-00{i}") for i in (2, 3)]
    both = await impact(played, "two_crashes", "gpu-002", "gpu-003")

    for node, found in zip(("gpu-002", "gpu-003"), apart, strict=True):
        (hit,) = found.workloads
        assert (hit.hit_by, hit.nodes) == (HitBy.NODE_FAILURE, [node])
        assert hit.gpu_hours_attributed == hit.gpu_hours_lost > 0
        (failure,) = found.failures
        assert abs(hit.hit_at - failure.at) < timedelta(seconds=15)
    assert both.totals.gpu_hours_lost == pytest.approx(
        sum(one.totals.gpu_hours_lost for one in apart)
    )


async def test_an_eviction_after_a_lost_node_was_back_is_not_of_the_loss(
    played: Corpus,
) -> None:
    found = await why(played, "s15_flaps_then_request", "job/world/dreamer")

    (ending,) = found.endings
    assert ending.ended_by is EndedBy.DRAIN
    assert ending.actor is not None
    assert ending.actor.name == "bob"
    assert [one.happened for one in ending.verdicts] == ["reboot"]


@pytest.mark.parametrize(
    ("tape", "workload", "preemptor", "pod"),
    [
        (
            "t12_preemption_and_failure",
            "job/mt/low-sweep",
            "chat-prod",
            "chat-prod-5d4cdf9d8d-t79lg",
        ),
        (
            "s02_kueue_preempts",
            "job/shared/distill",
            "chat-api",
            "chat-api-6fbdd98b56-sblpx",
        ),
    ],
)
async def test_a_preemption_names_what_took_the_place(
    played: Corpus, tape: str, workload: str, preemptor: str, pod: str
) -> None:
    found = await why(played, tape, workload)

    ending = found.endings[-1]
    assert ending.ended_by is EndedBy.PREEMPTION
    assert ending.preemptor is not None
    assert (ending.preemptor.kind, ending.preemptor.name) == (
        "Deployment",
        preemptor,
    )
    assert ending.preemptor.pod == pod
    assert ending.preemptor.actor is not None
    assert ending.preemptor.actor.name == "alice"
    assert f"in favor of Deployment {ending.preemptor.namespace}/" in (
        ending.sentence
    )


async def test_what_first_ended_a_pod_decides(played: Corpus) -> None:
    found = await why(
        played, "t13_own_failures_then_crash", "job/etl/slow-goodbye"
    )

    (ending,) = found.endings
    assert ending.ended_by is EndedBy.DELETION
    assert ending.actor is not None
    assert ending.actor.name == "alice"


@pytest.mark.parametrize("second", [40, 59])
async def test_a_job_on_a_dead_machine_is_not_running(
    played: Corpus, second: int
) -> None:
    until = datetime.fromisoformat(f"2026-11-25T19:35:{second}Z")
    found = await why(
        played, "dead_machine", "job/team-alpha/alpha5job", until=until
    )
    hits = await impact(played, "dead_machine", "n-alpha", until=until)

    (ending,) = found.endings
    assert found.state is WorkloadState.DOWN
    assert ending.ended_by is EndedBy.NODE_FAILURE
    assert {one.outcome for one in hits.workloads} == {Outcome.DOWN}


async def test_nodes_that_fail_one_after_another_share_one_loss(
    played: Corpus,
) -> None:
    nodes = ("gpu-001", "gpu-002", "gpu-003")
    every = await impact(played, "three_crashes", *nodes)
    each = [await impact(played, "three_crashes", node) for node in nodes]

    (whole,) = every.workloads
    for one in each:
        (hit,) = one.workloads
        assert (hit.hit_at, hit.gang_size) == (whole.hit_at, 3)
        assert hit.gpu_hours_lost == whole.gpu_hours_lost
    attributed = [one.totals.gpu_hours_attributed for one in each]
    assert sum(attributed) == pytest.approx(whole.gpu_hours_lost)
    async with reading(played, "three_crashes") as opened:
        now = opened.log.recorded_at
        assert now is not None
        asked = IncidentsQuestion(window=Window())
        found = await ask_incidents(opened, asked, shipped(), now=now)
    hours = sum(one.gpu_hours_lost for one in found.incidents)
    assert hours == pytest.approx(whole.gpu_hours_lost)


async def test_the_text_says_once_that_a_job_is_over(played: Corpus) -> None:
    tape, job = "t13_own_failures_then_crash", "job/etl/just-done"
    found = await why(played, tape, job)

    text = "\n".join(why_workload_lines(found))

    assert text.startswith("Job etl/just-done completed at 01:13:36.\n")
    assert text.count("just-done completed") == 1


async def test_hours_lost_end_when_a_job_says_in_its_own_field_that_it_failed(
    played: Corpus,
) -> None:
    found = await impact(played, "live_hours", "n17-b")

    assert {(hit.kind, hit.outcome) for hit in found.workloads} == {
        (kind, Outcome.FAILED)
        for kind in ("Job", "PyTorchJob", "RayJob", "SparkApplication")
    } | {("Workflow", Outcome.FAILED)}
    assert found.totals.gpu_hours_lost < 0.2


async def test_what_upgrades_a_node_is_no_victim_of_the_upgrade(
    played: Corpus,
) -> None:
    tape, plan = "s13_rolling_upgrade", "plan/system-upgrade/kernel-6890"
    hit = await impact(played, tape, "os-1", "os-4")
    upgrade = await why(played, tape, plan)

    assert {one.kind for one in hit.workloads} == {"Job"}
    assert not upgrade.endings


async def test_what_carries_out_a_taint_is_not_who_evicted(
    database: Database, tmp_path: Path
) -> None:
    name, story = "device", a_device_is_tainted_and_its_pods_are_deleted
    tape = tmp_path / "device.tape.jsonl.zst"
    write_lines(tape, story().answered_tape(name).tape)
    log = await play(database.dsn("writer"), tape, name=name)
    played = Corpus(database, {name: log})

    found = await why(played, name, "job/train/llm")

    (ending,) = found.endings
    assert ending.ended_by is EndedBy.EVICTION
    assert ending.actor is None
