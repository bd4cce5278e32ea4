"""Facts hang on the log alone: not on what was remembered, nor on luck."""

from collections import deque
from collections.abc import Sequence

import pytest

from recorder.facts import WrittenFact
from recorder.intake.deriving import Deriver
from recorder.intake.state import Batch
from recorder.model.fact import FactKind
from recorder.model.observation import Observation
from recorder.store.writer import Writer
from tests.contract.test_log import SPEC, Observer
from tests.crash.script import BATCHES
from tests.support.builders import PODS, a_frame, an_object
from tests.support.fact_rows import current_facts
from tests.support.memory_log import MemoryLog, MemoryWriter
from tests.support.postgres import Database

MANY = 20_000

Derived = list[tuple[int, Sequence[WrittenFact]]]


async def derived(
    *, states_max: int, restarts: bool = False, ahead: int = 0
) -> Derived:
    """Derive the script, by a process that forgets or one that does not.

    So many batches are derived ``ahead`` of the one that is being committed.
    """
    log = MemoryWriter(MemoryLog())
    found: Derived = []
    waiting: deque[Batch] = deque()
    observer, deriver = await begun(log, states_max)
    for observations in BATCHES:
        if restarts:
            observer, deriver = await begun(log, states_max)
        waiting.append(observer.batch(*observations))
        while len(waiting) > ahead:
            found += await committed(log, deriver, waiting.popleft())
    while waiting:
        found += await committed(log, deriver, waiting.popleft())
    return found


async def begun(
    log: MemoryWriter, states_max: int
) -> tuple[Observer, Deriver]:
    observer = Observer(await log.take_lease())
    return observer, Deriver(log, states_max=states_max)


async def committed(
    log: MemoryWriter, deriver: Deriver, batch: Batch
) -> Derived:
    await deriver.derive(batch)
    await log.append(batch)
    return batch.facts or []


async def test_a_process_that_begins_anew_derives_the_same() -> None:
    whole = await derived(states_max=1000)

    assert whole
    assert await derived(states_max=1000, restarts=True) == whole


@pytest.mark.parametrize("ahead", [0, 1, 3])
async def test_what_does_not_fit_into_memory_is_derived_the_same(
    ahead: int,
) -> None:
    whole = await derived(states_max=1000)

    assert await derived(states_max=1, ahead=ahead) == whole
    assert await derived(states_max=0, ahead=ahead) == whole


async def test_a_batch_of_objects_of_which_none_is_at_hand_is_compared() -> (
    None
):
    log = MemoryWriter(MemoryLog())
    observer, _ = await begun(log, 100)
    await log.append(observer.batch(*frames("ADDED", 1, {})))
    observer, deriver = await begun(log, 100)
    batch = observer.batch(*frames("MODIFIED", MANY + 1, {"phase": "Failed"}))

    await committed(log, deriver, batch)

    kinds = [fact.kind for _, facts in batch.facts or () for fact in facts]
    assert len(batch) == MANY
    assert kinds.count(FactKind.ENDED) == MANY
    assert FactKind.APPEARED not in kinds
    # Those of a batch that may be under way still are kept beside them.
    assert len(batch.states) == MANY
    after = observer.batch()
    await deriver.derive(after)
    assert len(after.states) == 100


def frames(
    operation: str, version: int, status: dict[str, str]
) -> list[Observation]:
    return [
        a_frame(
            PODS,
            operation,
            an_object(f"p{n}", version + n, status=status),
        )
        for n in range(MANY)
    ]


async def test_an_append_that_is_tried_again_does_not_double_facts(
    database: Database,
) -> None:
    writer = Writer(database.dsn("writer"), SPEC, holder="a")
    observer = Observer(await writer.take_lease())
    batch: Batch = observer.batch(a_frame(PODS, "ADDED", an_object("a", 1)))
    await Deriver(writer).derive(batch)
    await writer.append(batch)
    once = await current_facts(database)
    await writer.append(batch)
    await writer.close()

    assert len(once) == 1
    assert await current_facts(database) == once
