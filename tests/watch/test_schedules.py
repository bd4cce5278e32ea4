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

import orjson
import pytest

from recorder.model.observation import (
    EpochBegan,
    ListPage,
    Observation,
    WatchFrame,
)
from recorder.model.reference import Resource
from recorder.sources.watch.place import Place
from tests.support.fake_cluster import Failure, FakeCluster, Snapshot
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
            await memory.until(lambda: _is_settled(fake, memory), within=10)

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


Key = tuple[int, str, str, int, bool]
Span = tuple[int, str, int, int]


def _differences(fake: FakeCluster, memory: Witness) -> list[str]:
    seen, gaps, _ = _told(memory)
    truth = {c.key: orjson.dumps(c.object) for c in fake.history}
    wrong = [f"{key} never was" for key in seen if key not in truth]
    for key in truth:
        epoch, plural, _, revision, _ = key
        if epoch not in memory.epochs:
            continue  # rewound before anything of it was seen
        if key not in seen and not any(
            (e, p) == (epoch, plural) and after < revision <= until
            for e, p, after, until in gaps
        ):
            wrong.append(f"{key} was missed")
    return wrong


def _places(memory: Witness) -> dict[Resource, str]:
    """Give the versions from which a log would resume."""
    return {
        resource: place.completed
        for resource, place in _told(memory)[2].items()
        if place.completed is not None
    }


def _told(
    memory: Witness,
) -> tuple[set[Key], list[Span], dict[Resource, Place]]:
    """Give the keys of all frames, the spans that lists made up for, and
    how far each resource is complete."""
    epochs = iter(memory.epochs)
    epoch = next(epochs)
    seen: set[Key] = set()
    gaps: list[Span] = []
    places = {Resource("", "v1", plural): Place() for plural in PLURALS}
    for o in memory.seen:
        if isinstance(o, EpochBegan):
            for resource, place in places.items():
                after = int(place.completed or 0)
                gaps.append((epoch, resource.plural, after, 1 << 62))
                place.forget()
            epoch = next(epochs)
        elif isinstance(o, ListPage) and not o.more:
            place = places.setdefault(o.resource, Place())
            version = int(o.resource_version)
            after = int(place.completed or 0)
            gaps.append((epoch, o.resource.plural, after, version))
            place.forget()
            place.reached(o.resource_version)
        elif isinstance(o, WatchFrame):
            metadata = orjson.loads(o.object)["metadata"]
            version = metadata["resourceVersion"]
            if o.type == "BOOKMARK":
                places[o.resource].reached(version)
                continue
            places[o.resource].saw(version)
            key = epoch, o.resource.plural, metadata["uid"], int(version)
            seen.add((*key, o.type == "DELETED"))
    return seen, gaps, places
