"""Several sources in one recording: what ends it, and where each resumes."""

import asyncio
import random
from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.intake.committing import Policy
from recorder.intake.observing import SourceEndedError
from recorder.intake.ports import Known, Sink, Source
from recorder.intake.receipts import NotCommittedError, Receipt
from recorder.intake.recording import Recording
from recorder.intake.state import Batch
from recorder.model.errors import ClusterError
from recorder.model.observation import (
    AuditRecorded,
    Observation,
    PlaceReached,
)
from tests.intake.test_recording import REDACTION, Scripted, pods, recording
from tests.support.builders import EVENTS, a_list, an_event, at
from tests.support.memory_log import MemoryLog, MemoryWriter


class Eternal(Scripted):
    """A source that must not end by itself."""

    finite = False


async def run(log: MemoryLog, *sources: Source) -> None:
    named = {f"source {n}": source for n, source in enumerate(sources)}
    async with asyncio.timeout(30):
        await recording(log).run(named, asyncio.Event())


async def test_a_recording_ends_when_its_finite_sources_have() -> None:
    log = MemoryLog()
    watching, soon = Eternal(*pods(3), stays=True), Scripted(*pods(5)[3:])

    class Late(Scripted):
        async def run(self, sink: Sink, known: Known) -> None:
            await soon.done.wait()
            await watching.done.wait()
            await super().run(sink, known)

    await run(log, watching, soon, Late(*pods(9)[5:]))

    assert len(log.entries) == 9


@pytest.mark.parametrize("beside", [Scripted, Eternal])
async def test_a_source_that_must_not_end_ends_all(
    beside: type[Scripted],
) -> None:
    log = MemoryLog()
    with pytest.raises(SourceEndedError, match="source 0"):
        await run(log, Eternal(*pods(3)), beside(stays=True))

    assert len(log.entries) == 3


async def test_a_source_that_fails_ends_all() -> None:
    log = MemoryLog()
    beside = Eternal(*pods(3), stays=True)

    class Failing(Scripted):
        async def run(self, sink: Sink, known: Known) -> None:
            await beside.done.wait()
            await super().run(sink, known)

    failing = Failing(*pods(5)[3:], fails=ClusterError("wrong cluster"))
    with pytest.raises(ClusterError, match="wrong cluster"):
        await run(log, beside, Scripted(stays=True), failing)

    assert len(log.entries) == 5
    assert log.holder is None


async def test_a_stop_ends_all() -> None:
    log, stop = MemoryLog(), asyncio.Event()
    sources = {
        "one": Eternal(*pods(3), stays=True),
        "two": Scripted(*pods(5)[3:], stays=True),
    }
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(recording(log).run(sources, stop))
        for source in sources.values():
            await source.done.wait()
        stop.set()

    assert len(log.entries) == 5


class KilledError(Exception):
    """The process is gone, as far as the log shows."""


class Mortal(MemoryWriter):
    """A log whose writer dies before or after one of its commits."""

    def __init__(self, log: MemoryLog, *, dies: int, applied: bool) -> None:
        super().__init__(log)
        self._left, self._applied = dies, applied

    async def append(self, batch: Batch) -> None:
        for _ in range(batch.first_position % 4):
            await asyncio.sleep(0)
        self._left -= 1
        if self._left >= 0:
            await super().append(batch)
            return
        if self._applied:
            await super().append(batch)
        raise KilledError


class Lines:
    """Lines of a file, put and placed a few at a time.

    Nothing in them says what came before: what is put twice is in the log
    twice. Between them it lists Events, which has the log looked up.
    """

    finite = True

    def __init__(self, name: str, count: int, dice: random.Random) -> None:
        self._name = name
        self._dice = dice
        self.lines = [
            b'{"auditID":"1","stage":"s","verb":"get","file":"%b","line":%d}'
            % (name.encode(), n)
            for n in range(count)
        ]
        self.receipts: list[tuple[Receipt, Sequence[bytes]]] = []

    async def run(self, sink: Sink, known: Known) -> None:
        points = known.resume_points()
        assert set(points) <= {self._name}, "those of others are not ours"
        done, dice = int(points.get(self._name, "0")), self._dice
        while done < len(self.lines):
            chunk: list[Observation] = []
            began = done
            for _ in range(dice.randint(1, 4)):
                until = min(done + dice.randint(0, 20), len(self.lines))
                if dice.random() < 0.2:
                    event = an_event(f"{self._name}-{done}", done + 1)
                    chunk.append(a_list(EVENTS, done + 2, event))
                chunk.extend(
                    AuditRecorded(observed_at=at(done), event=line)
                    for line in self.lines[done:until]
                )
                chunk.append(self._place(until))
                done = until
            receipt = await sink.put(chunk)
            self.receipts.append((receipt, self.lines[began:done]))
            for _ in range(dice.randrange(5)):
                await asyncio.sleep(0)

    def _place(self, number: int) -> PlaceReached:
        return PlaceReached(
            observed_at=at(number),
            source=self._name,
            stream=self._name,
            place=str(number),
        )


SMALL = Policy(
    batch_entries=8,
    batches_ahead=1,
    linger=timedelta(milliseconds=1),
    idle=timedelta(milliseconds=1),
)


async def lives(
    log: MemoryLog, make: Callable[[], dict[str, Lines]], dice: random.Random
) -> None:
    """Record until it is done, however often the process dies."""
    for life in range(40):
        dies = dice.randrange(9) if life < 30 else 1000
        writer = Mortal(log, dies=dies, applied=dice.random() < 0.5)
        sources = make()
        made = Recording(writer, REDACTION, policy=SMALL)
        killed = False
        try:
            await made.run(sources, asyncio.Event())
        except* KilledError:
            killed = True
        # The last commit may be there unknown to the writer.
        assert await kept(log, sources) or killed
        if not killed:
            return
    pytest.fail("it is never done")


async def kept(log: MemoryLog, sources: dict[str, Lines]) -> bool:
    """Whether all receipts are good; those that are must be true."""
    good = True
    raws = [draft.raw for draft in log.drafts()]
    for source in sources.values():
        for receipt, lines in source.receipts:
            try:
                found = await receipt.committed()
            except NotCommittedError:
                good = False
                continue
            recorded = [raws[position - 1] for position in found]
            assert [raw for raw in recorded if raw in lines] == [*lines]
    return good


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_each_source_goes_on_where_its_own_lines_end(seed: int) -> None:
    """Exactly once, in order, whenever the process dies."""
    dice, log = random.Random(seed), MemoryLog()
    counts = {"left": dice.randrange(120), "right": dice.randrange(120)}

    def make() -> dict[str, Lines]:
        return {name: Lines(name, n, dice) for name, n in counts.items()}

    asyncio.run(lives(log, make, dice))

    raws = [draft.raw for draft in log.drafts()]
    for name, source in make().items():
        mine = [raw for raw in raws if b'"file":"%b"' % name.encode() in raw]
        assert mine == source.lines
        if source.lines:
            assert log.streams[name, name].completed == str(counts[name])
