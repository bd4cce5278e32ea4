"""Daily life of a fleet: a block of hours that can be put again and again.

Pods and Jobs are made, run in parallel for about an hour and end within the
block, with their Events between. Their names hold a mark, so that every copy
of the block has other objects: see `Again`.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bench.fleet import Change, Fleet
from bench.rendering import MAKERS
from bench.site import UNAMBIGUOUS
from bench.templates import EVENTS, JOBS, PODS

__all__ = ["Again", "call", "daily_life"]

Life = Iterator[Change]

UID_MARK = "b10cb10c"
NAME_MARK = "-zz"
"""What nothing else has in its uid, and hardly anything in its name."""

SHARES = {EVENTS: 50, PODS: 42, JOBS: 8}
"""Of changes: as many Events as these Pods and Jobs have."""

LIVING = {PODS: 1 / 80, JOBS: 1 / 400}
"""How many live at one time, in parts of the changes of a block."""


@dataclass(frozen=True, slots=True)
class Again:
    """What the marks become in one copy of the block."""

    number: int
    """Of the copy, from 0, which keeps them."""

    @property
    def uid(self) -> str:
        return f"{self.number:08x}" if self.number else UID_MARK

    @property
    def name(self) -> str:
        more, low = divmod(self.number, len(UNAMBIGUOUS) - 1)
        high, middle = divmod(more, len(UNAMBIGUOUS))
        letters = UNAMBIGUOUS[middle] + UNAMBIGUOUS[low]
        if high:
            letters = UNAMBIGUOUS[high] + letters
        return f"-{letters}" if self.number else NAME_MARK


def call(fleet: Fleet, names: Sequence[str]) -> None:
    """Return the first nodes of a fleet these names."""
    for machine, name in zip(fleet.nodes, names, strict=False):
        for slot in [s for s in machine.identity if s[0] == "node"]:
            machine.identity[slot] = name


def daily_life(fleet: Fleet, count: int) -> Iterator[Change]:
    """Yield about so many changes; every life that begins ends."""
    chance = random.Random("daily life")
    fleet.makers = {**MAKERS, "uid": _uid, "suffix": _suffix}
    at = None
    for change in _mixed(fleet, count, chance):
        # A deletion has no document of its own, and so no time.
        at = change.at if at is None else max(at, change.at)
        yield replace(change, at=at)


def _mixed(
    fleet: Fleet, count: int, chance: random.Random
) -> Iterator[Change]:
    living: dict[str, list[Life]] = {PODS: [], JOBS: []}
    for resource in chance.choices(
        list(SHARES), list(SHARES.values()), k=count
    ):
        if resource == EVENTS:
            yield fleet.event()
            continue
        lives = living[resource]
        while len(lives) < count * LIVING[resource]:
            lives.append(_whole(fleet.life(resource)))
        yield from _step(lives, chance)
    last = [life for lives in living.values() for life in lives]
    while last:
        yield from _step(last, chance)


def _whole(life: Life) -> Life:
    """Have an object go at the end of its story."""
    for change in life:
        yield change
    if change.type != "DELETED":
        yield replace(change, type="DELETED")


def _step(lives: list[Life], chance: random.Random) -> Life:
    """Yield the next change of one of them; finished ones are removed."""
    place = chance.randrange(len(lives))
    change = next(lives[place], None)
    if change is not None:
        yield change
        return
    lives[place] = lives[-1]
    lives.pop()


def _uid(chance: random.Random) -> str:
    text = f"{chance.getrandbits(88):022x}"
    return (
        f"{text[:8]}-{text[8:12]}-4{text[12:15]}-a{text[15:18]}"
        f"-{UID_MARK}{text[18:22]}"
    )


def _suffix(chance: random.Random) -> str:
    return NAME_MARK[1:] + "".join(chance.choices(UNAMBIGUOUS, k=3))
