"""Large gangs: a fault is found on each node, and answers stay bounded."""

from asyncio import timeout
from collections.abc import Collection
from pathlib import Path

from recorder.answers.naming import Reference
from recorder.answers.node_questions import (
    WhyWorkloadQuestion,
    WorkloadQuestion,
)
from recorder.answers.why_workload import ask_why_workload, why_workload_lines
from recorder.answers.workload import ask_workload
from recorder.explain.knowledge import shipped
from recorder.model.document import plain
from recorder.model.window import Window
from tests.api.serving import served_by
from tests.corpus.logs import play, reading_of
from tests.corpus.tape_lines import write_lines
from tests.scenarios.telling.scene import Scene
from tests.scenarios.workloads.work import JOBS, owned
from tests.support.postgres import Database

WIDE = 250

WIDER = 440

RACK, LOST_OF_RACK = 16, 14

MANY = 620

SECONDS = 30
"""How long an answer about all of them may take on a busy machine; on a quiet
one it takes three."""

LLM = Reference.parse("job/train/llm")

BY_GRAPHQL = """{ whyWorkload(name: "job/train/llm") { endings {
  nodes verdicts { node cause } moreVerdicts { happened cause nodes }
} } }"""


def a_gang(count: int, lost: Collection[int]) -> Scene:
    nodes = [f"gpu-{number:03}" for number in range(1, count + 1)]
    racks = {node: f"r{place // RACK}" for place, node in enumerate(nodes)}
    scene = Scene(*nodes, racks=racks)
    job = owned(scene, "Job", JOBS)
    for place, node in enumerate(nodes):
        scene.runs(-10, f"w-{place}", node, of=job)
    for place in lost:
        scene.dies(20, nodes[place], 600)
    for place in lost:
        scene.fails(620, f"w-{place}", 255, "Unknown")
    return scene


async def played(scene: Scene, database: Database, folder: Path) -> int:
    tape = folder / "wide.tape.jsonl"
    write_lines(tape, scene.answered_tape("wide").tape)
    return await play(database.dsn("writer"), tape, name="wide")


async def test_a_gang_on_many_nodes_is_hit_by_the_last_of_them(
    database: Database, tmp_path: Path
) -> None:
    scene = a_gang(WIDE, [WIDE - 1])
    log = await played(scene, database, tmp_path)

    async with reading_of(database.dsn("reader"), log) as reading:
        assert reading.log.recorded_at is not None
        story = await ask_workload(
            reading,
            WorkloadQuestion(object=LLM),
            shipped(),
            now=reading.log.recorded_at,
        )

    nodes = [f"gpu-{number:03}" for number in range(1, WIDE + 1)]
    assert story.nodes == nodes
    assert [(hit.first_node, hit.gang_size) for hit in story.hits] == [
        (nodes[-1], WIDE)
    ]


async def test_of_many_lost_nodes_ten_have_their_verdict_in_the_answer(
    database: Database, tmp_path: Path
) -> None:
    lost = [n for n in range(WIDER) if n % RACK < LOST_OF_RACK]
    scene = a_gang(WIDER, lost)
    log = await played(scene, database, tmp_path)

    async with reading_of(database.dsn("reader"), log) as reading:
        assert reading.log.recorded_at is not None
        question = WhyWorkloadQuestion(
            object=LLM, window=Window(None, None), at=None
        )
        async with timeout(SECONDS):
            answer = await ask_why_workload(
                reading, question, shipped(), now=reading.log.recorded_at
            )
    async with served_by(database.dsn("reader")) as client:
        found = await client.ask(BY_GRAPHQL)

    (ending,) = answer.endings
    assert len(ending.nodes) == len(lost)
    assert len(ending.verdicts) == 10
    assert sum(one.nodes for one in ending.more_verdicts) == len(lost) - 10
    text = "\n".join(why_workload_lines(answer, verbose=True))
    assert "more nodes: reboot; unrecorded" in text
    written = plain(answer)["endings"]
    shown = found["whyWorkload"]["endings"]
    for (one,), more in ((written, "more_verdicts"), (shown, "moreVerdicts")):
        assert len(one["nodes"]) == len(lost)
        assert len(one["verdicts"]) == 10
        counted = sum(alike["nodes"] for alike in one[more])
        assert counted == len(lost) - 10


async def test_of_very_many_pods_an_answer_names_five_hundred(
    database: Database, tmp_path: Path
) -> None:
    scene = Scene(*(nodes := [f"gpu-{number}" for number in range(3)]))
    job = owned(scene, "Job", JOBS)
    for place in range(MANY):
        scene.runs(-10, f"w-{place}", nodes[place % 3], of=job)
    for node in nodes:
        scene.dies(20, node, 600)
    for place in range(MANY):
        scene.fails(620, f"w-{place}", 255, "Unknown")
    log = await played(scene, database, tmp_path)

    async with reading_of(database.dsn("reader"), log) as reading:
        assert reading.log.recorded_at is not None
        question = WhyWorkloadQuestion(
            object=LLM, window=Window(None, None), at=None
        )
        answer = await ask_why_workload(
            reading, question, shipped(), now=reading.log.recorded_at
        )

    (ending,) = answer.endings
    assert (ending.pod_count, len(ending.pods)) == (MANY, 500)
    assert len(ending.members) == 500
    assert f"lost {MANY} Pods" in ending.sentence
    text = "\n".join(why_workload_lines(answer, verbose=False))
    assert f"and {MANY - 10} more" in text
