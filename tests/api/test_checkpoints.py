"""Work since the last checkpoint, by what others claim."""

import msgspec
import pytest
from msgspec.structs import replace

from recorder.answers.checkpoints import (
    hours_since_checkpoint,
    with_checkpoints,
)
from recorder.answers.impact import cost
from recorder.explain.hit import Hit, Totals
from recorder.facts.projections import Workload
from recorder.model.observation import CloudEventPosted
from recorder.model.outcomes import HitBy, Outcome
from recorder.model.settings import Settings
from recorder.wiring.reading import open_logs
from tests.support.builders import NODES, PODS, a_list, at
from tests.support.postgres import Database
from tests.support.written_log import WrittenLog


def a_hit(
    seconds: float = 7200,
    *,
    name: str = "llm",
    worked_since: float | None = 0,
    outcome: Outcome = Outcome.RESTARTED,
) -> Hit:
    return Hit(
        workload=Workload("batch", "Job", "train", name, "uid-1"),
        kind="Job",
        namespace="train",
        name=name,
        uid="uid-1",
        hit_by=HitBy.NODE_FAILURE,
        first_node="n1",
        nodes=["n1"],
        pods_hit=["llm-0"],
        gang_size=2,
        gpus=16,
        outcome=outcome,
        hit_at=at(seconds),
        running_again_at=None,
        gpu_hours_lost=4.0,
        evidence=[],
        says="",
        worked_since=None if worked_since is None else at(worked_since),
    )


def a_claim(
    number: int, seconds: float, kind: str = "job.checkpoint"
) -> CloudEventPosted:
    event = {
        "specversion": "1.0",
        "id": str(number),
        "source": "trainer",
        "type": kind,
        "time": at(seconds).isoformat(),
        "subject": "job/train/llm",
        "data": {"step": number},
    }
    return CloudEventPosted(
        observed_at=at(9000),
        event=msgspec.json.encode(event),
        key=f"key-{number}",
    )


@pytest.mark.parametrize(
    ("hit", "hours"),
    [
        # 16 GPUs worked for half an hour since the checkpoint.
        (a_hit(7200), 8.0),
        # They ran again a quarter of an hour before.
        (a_hit(7200, worked_since=6300), 4.0),
        (a_hit(7200, worked_since=None), 8.0),
        # Before the first checkpoint.
        (a_hit(600), None),
        (a_hit(7200, name="other"), None),
        (a_hit(7200, outcome=Outcome.SURVIVED), None),
    ],
)
async def test_the_last_checkpoint_before_a_hit_counts(
    database: Database, written_log: WrittenLog, hit: Hit, hours: float | None
) -> None:
    await written_log.append(
        a_list(NODES, 1), a_list(PODS, 1),
        a_claim(1, 1800), a_claim(2, 5400), a_claim(3, 8000),
        a_claim(4, 7100, "note"),
    )  # fmt: skip
    settings = Settings(database_url=database.dsn("reader"))
    async with open_logs(settings) as logs:
        reading = await logs.read(None)
        found = await with_checkpoints(reading, [hit])
    assert hours_since_checkpoint(found) == hours


def test_endings_without_a_checkpoint_have_no_sum() -> None:
    assert hours_since_checkpoint([a_hit(), None]) is None
    assert hours_since_checkpoint([]) is None


def test_the_text_says_what_was_computed_since_the_last_checkpoint() -> None:
    known = replace(a_hit(), gpu_hours_since_checkpoint=8.0)
    total = Totals.of([known])
    assert cost(total, [known]).endswith("plus 8.00 since the last checkpoint")
    assert cost(total, [known, a_hit()]).endswith(
        "plus 8.00 since the last checkpoint, where one is recorded"
    )
    assert cost(total, [a_hit()]).endswith("last checkpoint (not recorded)")
