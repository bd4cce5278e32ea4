"""A fault of a large gang is found on each of its nodes."""

from pathlib import Path

from recorder.answers.naming import Reference
from recorder.answers.node_questions import WorkloadQuestion
from recorder.answers.workload import ask_workload
from recorder.explain.knowledge import shipped
from tests.corpus.logs import play, reading_of
from tests.corpus.tape_lines import write_lines
from tests.scenarios.telling.scene import Scene
from tests.scenarios.workloads.work import JOBS, owned
from tests.support.postgres import Database

WIDE = 250


async def test_a_gang_on_many_nodes_is_hit_by_the_last_of_them(
    database: Database, tmp_path: Path
) -> None:
    nodes = [f"gpu-{number:03}" for number in range(1, WIDE + 1)]
    scene = Scene(*nodes)
    job = owned(scene, "Job", JOBS)
    for place, node in enumerate(nodes):
        scene.runs(-10, f"w-{place}", node, of=job)
    scene.dies(20, nodes[-1], 600)
    scene.fails(620, f"w-{WIDE - 1}", 255, "Unknown")
    tape = tmp_path / "wide.tape.jsonl.zst"
    write_lines(tape, scene.answered_tape("wide").tape)
    log = await play(database.dsn("writer"), tape, name="wide")

    async with reading_of(database.dsn("reader"), log) as reading:
        assert reading.log.recorded_at is not None
        story = await ask_workload(
            reading,
            WorkloadQuestion(object=Reference.parse("job/train/llm")),
            shipped(),
            now=reading.log.recorded_at,
        )

    assert story.nodes == nodes
    assert [(hit.first_node, hit.gang_size) for hit in story.hits] == [
        (nodes[-1], WIDE)
    ]
