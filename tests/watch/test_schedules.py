"""Random faults, by seed: nothing is missed untold, doubled or misplaced.

The fake's own history is the oracle. What is not among the frames must lie
between the version completed before a list and the version of that list; a
frame must be of the epoch in which it was put; and in the end everything that
exists is known in its newest version.
"""

import asyncio
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from recorder.model.observation import (
    EpochBegan,
    Observation,
)
from recorder.model.reference import Resource
from tests.support.fake_cluster import Failure, FakeCluster, Snapshot
from tests.watch.account import Account
from tests.watch.watching import Memory, recording

SEEDS = int(os.environ.get("RECORDER_TEST_WATCH_SEEDS", "12"))
STEPS = 60
PLURALS = ("pods", "nodes", "events")


class Witness(Memory):
    """Notes which history of the cluster each epoch turned out to be."""

    def __init__(self, fake: FakeCluster) -> None:
        super().__init__()
        self.epochs = [0]
        self.highest = 0
        self._fake = fake

    def _learn(self, observation: Observation) -> None:
        super()._learn(observation)
        if isinstance(observation, EpochBegan):
            self.epochs.append(self._fake.epoch)
            self.highest = 0
        for known in self.objects.values():
            self.highest = max(self.highest, int(known.resource_version))


class Faults:
    """Does something at random to the cluster or to its connections."""

    def __init__(
        self, fake: FakeCluster, memory: Witness, dice: random.Random
    ) -> None:
        self._fake = fake
        self._memory = memory
        self._dice = dice
        self._backup: Snapshot = fake.snapshot()
        self._may: list[Callable[[], None]] = [
            *[self._write] * 30,
            *[self._delete] * 4,
            *[fake.bookmark] * 4,
            *[self._cut] * 4,
            self._cut_later,
            self._end,
            self._garbage,
            self._refuse,
            self._compact,
            self._stall,
            self._portion,
            self._save,
            self._rewind,
        ]

    async def step(self) -> None:
        self._dice.choice(self._may)()
        if self._dice.random() < 0.03:
            await self._fake.down()
            await asyncio.sleep(self._dice.random() * 0.05)
            await self._fake.up()
        if self._dice.random() < 0.5:
            await asyncio.sleep(self._dice.random() * 0.02)

    def end(self) -> None:
        self._fake.flowing.set()
        self._fake.failures.clear()
        self._fake.cut_after.clear()

    def _plural(self) -> str:
        return self._dice.choice(PLURALS)

    def _write(self) -> None:
        name = f"x{self._dice.randrange(8)}"
        self._fake.put(self._plural(), name, n=self._dice.random())

    def _delete(self) -> None:
        plural = self._plural()
        names = [name for p, _, name in self._fake.objects if p == plural]
        if names:
            count = self._dice.randint(1, len(names))
            self._fake.delete(plural, *self._dice.sample(names, count))

    def _cut(self) -> None:
        self._fake.cut(self._dice.choice([None, *PLURALS]))

    def _cut_later(self) -> None:
        plural = self._plural()
        self._fake.cut_after[plural] = self._dice.randint(1, 400)
        self._fake.cut(plural)

    def _end(self) -> None:
        self._fake.end(self._plural())

    def _garbage(self) -> None:
        self._fake.send(self._plural(), self._dice.randbytes(9) + b"\n")

    def _refuse(self) -> None:
        status = self._dice.choice([401, 403, 404, 429, 500, 503])
        self._fake.failures.append(
            Failure(status, plural=self._plural(), times=2)
        )
        self._cut()

    def _compact(self) -> None:
        # Compacted at once, a rewind could not be told from a long absence.
        if self._fake.epoch == self._memory.epochs[-1]:
            self._fake.compact()

    def _stall(self) -> None:
        if self._fake.flowing.is_set():
            self._fake.flowing.clear()
        else:
            self._fake.flowing.set()

    def _portion(self) -> None:
        self._fake.portion = self._dice.choice([None, 1, 7, 100])

    def _save(self) -> None:
        self._backup = self._fake.snapshot()

    def _rewind(self) -> None:
        # What nobody saw is not missed when it is gone: such a rewind shows
        # in nothing and does no harm.
        if self._memory.highest > self._backup.revision:
            self._fake.rewind(self._backup)
            self._backup = self._fake.snapshot()


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_nothing_is_missed_untold(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    async with FakeCluster() as fake:
        memory = Witness(fake)
        faults = Faults(fake, memory, dice)
        for _ in range(dice.randint(0, 2)):
            async with recording(fake, tmp_path, memory):
                for _ in range(dice.randrange(STEPS)):
                    await faults.step()
            memory.resume = _places(memory)
        async with recording(fake, tmp_path, memory):
            for _ in range(STEPS):
                await faults.step()
            faults.end()
            # The last of each: whoever saw it saw everything before.
            for plural in PLURALS:
                fake.put(plural, "last")
            await memory.until(lambda: _is_settled(fake, memory))

    assert not _differences(fake, memory)


def _is_settled(fake: FakeCluster, memory: Memory) -> bool:
    held = {
        (resource.plural, known.namespace, known.name): known.resource_version
        for (resource, _), known in memory.objects.items()
    }
    return held == {
        key: made["metadata"]["resourceVersion"]
        for key, made in fake.objects.items()
    }


def _account(memory: Witness) -> Account:
    return Account.of(memory.seen, epochs=iter(memory.epochs), plurals=PLURALS)


def _differences(fake: FakeCluster, memory: Witness) -> list[str]:
    account = _account(memory)
    truth = {change.key for change in fake.history}
    never = [f"{key} never was" for key in account.seen - truth]
    missed = [
        f"{key} was missed"
        for key in truth - account.seen
        # An epoch that ended before it was seen at all shows in nothing.
        if key[0] in memory.epochs and not account.explains(key)
    ]
    return never + missed


def _places(memory: Witness) -> dict[Resource, str]:
    """Return the versions from which a log would resume."""
    return {
        resource: place.completed
        for resource, place in _account(memory).places.items()
        if place.completed is not None
    }
