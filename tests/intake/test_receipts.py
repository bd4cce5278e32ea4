"""Receipts: never before the commit, always after it, and never for ever."""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from recorder.intake.committing import Policy
from recorder.intake.ports import Known, Sink
from recorder.intake.receipts import NotCommittedError, Receipt
from recorder.intake.recording import Recording
from recorder.intake.state import Batch
from recorder.model.errors import UnknownStateError
from recorder.model.observation import WATCH, Observation
from tests.intake.test_recording import POLICY, REDACTION, Scripted, pods
from tests.support.builders import NODES, PODS, a_frame, a_node, an_object
from tests.support.memory_log import MemoryLog, MemoryWriter

HOUR = timedelta(hours=1)


class Held(MemoryWriter):
    """A log whose commits take until they are let through."""

    def __init__(self, log: MemoryLog) -> None:
        super().__init__(log)
        self.arrived = asyncio.Event()
        self.open = asyncio.Event()

    async def append(self, batch: Batch) -> None:
        if batch.drafts:
            self.arrived.set()
            await self.open.wait()
        await super().append(batch)


class Doing:
    """A source that does something with the sink, then ends."""

    finite = True

    def __init__(self, do: Callable[[Sink], Awaitable[None]]) -> None:
        self._do = do

    async def run(self, sink: Sink, known: Known) -> None:
        del known
        await self._do(sink)


class Asking:
    """A task that waits for a receipt, beside everything else."""

    def __init__(self) -> None:
        self.answer: range | NotCommittedError | None = None

    def waits(self) -> bool:
        return self.answer is None

    async def run(self, what: Awaitable[range]) -> None:
        try:
            self.answer = await what
        except NotCommittedError as exc:
            self.answer = exc


async def run(
    writer: MemoryWriter,
    do: Callable[[Sink], Awaitable[None]],
    *,
    policy: Policy = POLICY,
) -> None:
    made = Recording(writer, REDACTION, policy=policy)
    async with asyncio.timeout(30):
        await made.run({WATCH: Doing(do)}, asyncio.Event())


async def turns(count: int = 50) -> None:
    """Let all other tasks run as far as they can."""
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_receipt_is_good_after_the_commit_and_not_before() -> None:
    writer = Held(MemoryLog())

    async def do(sink: Sink) -> None:
        first, second = Asking(), Asking()
        async with asyncio.TaskGroup() as asked:
            for one, some in ((first, pods(2)), (second, pods(5)[2:])):
                receipt = await sink.put(some)
                asked.create_task(one.run(receipt.committed()))
            await writer.arrived.wait()
            await turns()
            assert (first.answer, second.answer) == (None, None)
            assert writer.log.entries == []
            writer.open.set()
        assert (first.answer, second.answer) == (range(1, 3), range(3, 6))
        assert len(writer.log.entries) == 5

    await run(writer, do)


async def test_what_comes_while_a_batch_is_committed_is_not_in_it() -> None:
    writer = Held(MemoryLog())

    async def do(sink: Sink) -> None:
        first, second = Asking(), Asking()
        async with asyncio.TaskGroup() as asked:
            receipt = await sink.put(pods(1))
            asked.create_task(first.run(receipt.committed()))
            await writer.arrived.wait()
            receipt = await sink.put(pods(2)[1:])
            asked.create_task(second.run(receipt.committed()))
            await turns()
            writer.arrived.clear()
            writer.open.set()
            writer.open.clear()
            await writer.arrived.wait()
            await turns()
            assert (first.answer, second.answer) == (range(1, 2), None)
            writer.open.set()
        assert second.answer == range(2, 3)

    await run(writer, do)


async def test_who_asks_later_is_answered_at_once() -> None:
    writer = MemoryWriter(MemoryLog())

    async def do(sink: Sink) -> None:
        early = await sink.put(pods(1))
        await (await sink.put(pods(2)[1:])).committed()
        with pytest.raises(StopIteration, match=r"range\(1, 2\)"):
            early.committed().send(None)

    await run(writer, do)


async def test_what_is_put_over_several_batches_is_one_receipt() -> None:
    writer = MemoryWriter(MemoryLog())
    count = 3 * POLICY.batch_entries

    async def do(sink: Sink) -> None:
        receipt = await sink.put(pods(count))
        assert await receipt.committed() == range(1, count + 1)
        assert len(writer.log.entries) == count

    await run(writer, do)


@pytest.mark.parametrize("fate", ["lost", "silent"])
async def test_a_commit_without_an_answer_is_tried_until_it_is_known(
    fate: str,
) -> None:
    writer = MemoryWriter(MemoryLog())
    writer.faults = [fate] * 4

    async def do(sink: Sink) -> None:
        receipt = await sink.put(pods(3))
        assert await receipt.committed() == range(1, 4)
        assert writer.faults == []
        assert len(writer.log.entries) == 3

    await run(writer, do)


def beat(version: int, second: int) -> Observation:
    node = a_node("gpu-001", version, beat=second)
    return a_frame(NODES, "MODIFIED", node, when=second)


@pytest.mark.parametrize("again", [beat(1, 0), beat(2, 9)])
async def test_what_is_folded_waits_for_what_it_is_folded_into(
    again: Observation,
) -> None:
    """A frame that came before, and a heartbeat: nothing of their own."""
    writer = Held(MemoryLog())

    async def do(sink: Sink) -> None:
        folded = Asking()
        async with asyncio.TaskGroup() as asked:
            await sink.put([beat(1, 0)])
            receipt = await sink.put([again])
            asked.create_task(folded.run(receipt.committed()))
            await writer.arrived.wait()
            await turns()
            assert folded.waits()
            writer.open.set()
        assert folded.answer == range(2, 2)
        assert len(writer.log.entries) == 1

    await run(writer, do)


async def test_a_receipt_for_nothing_new_does_not_wait_for_news() -> None:
    writer = MemoryWriter(MemoryLog())

    async def do(sink: Sink) -> None:
        await (await sink.put([beat(1, 0)])).committed()
        assert not await (await sink.put([beat(1, 0)])).committed()
        assert not await (await sink.put([beat(2, 9)])).committed()
        assert not await (await sink.put([])).committed()
        taken = await sink.put([beat(3, 10)])
        await turns()
        assert not await taken.committed()
        assert len(writer.log.entries) == 1
        assert next(iter(writer.log.heads.values())).heartbeats == 2

    await run(writer, do, policy=replace(POLICY, idle=HOUR))


async def test_a_recording_that_dies_fails_all_receipts() -> None:
    """And at once: its source may end only when these have ended."""
    writer, all_asking = Held(MemoryLog()), [Asking() for _ in range(500)]

    async with asyncio.TaskGroup() as asked:

        async def do(sink: Sink) -> None:
            waiting, last = set(), None
            for asking, pod in zip(all_asking, pods(500), strict=True):
                last = await sink.put([pod])
                what = asking.run(last.committed())
                waiting.add(asked.create_task(what))
            await writer.arrived.wait()
            writer.log.term += 1  # another process took the lease
            writer.open.set()
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.wait(waiting)
                assert last is not None
                with pytest.raises(NotCommittedError):
                    await last.committed()

        with pytest.raises(UnknownStateError):
            await run(writer, do)
    for asking in all_asking:
        assert isinstance(asking.answer, NotCommittedError)
    assert writer.log.entries == []


async def test_waiting_for_room_fails_when_there_will_be_none() -> None:
    writer, asking = Held(MemoryLog()), Asking()
    filler = "x" * (9 << 20)

    async with asyncio.TaskGroup() as asked:

        async def do(sink: Sink) -> None:
            async def fill() -> range:
                for n in range(1, 9):
                    pod = an_object(f"p{n}", n, filler=filler)
                    await sink.put([a_frame(PODS, "ADDED", pod)])
                return range(0)

            filling = asked.create_task(asking.run(fill()))
            await writer.arrived.wait()
            await turns()
            writer.log.term += 1
            writer.open.set()
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.wait({filling})

        with pytest.raises(UnknownStateError):
            await run(writer, do)
    assert isinstance(asking.answer, NotCommittedError)


async def test_nothing_is_taken_after_the_end() -> None:
    log = MemoryLog()
    made = Recording(MemoryWriter(log), REDACTION, policy=POLICY)
    await made.run({WATCH: Scripted(*pods(1))}, asyncio.Event())

    with pytest.raises(NotCommittedError):
        await made.put(pods(2))
    assert len(log.entries) == 1


async def test_who_waits_no_longer_leaves_nothing() -> None:
    writer = Held(MemoryLog())

    async def do(sink: Sink) -> None:
        last = Asking()
        async with asyncio.TaskGroup() as asked:
            waiters = [
                asked.create_task((await sink.put([pod])).committed())
                for pod in pods(300)
            ]
            receipt = await sink.put(pods(301)[300:])
            asked.create_task(last.run(receipt.committed()))
            await writer.arrived.wait()
            await turns(5000)  # until all is taken
            for waiter in waiters:
                waiter.cancel()
            await asyncio.wait(waiters)
            del waiter, waiters
            assert receipts() == 1
            writer.open.set()
        assert last.answer == range(301, 302)

    await run(writer, do)


def receipts() -> int:
    gc.collect()
    return sum(isinstance(each, Receipt) for each in gc.get_objects())


async def test_positions_of_receipts_are_those_of_the_log() -> None:
    writer = MemoryWriter(MemoryLog())

    async def do(sink: Sink) -> None:
        puts = [await sink.put([pod]) for pod in [*pods(9), *pods(12)]]
        found = [await put.committed() for put in puts]
        assert [place for each in found for place in each] == [
            *range(1, len(writer.log.entries) + 1)
        ]

    await run(writer, do)
