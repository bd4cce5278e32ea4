"""Walking back, in histories that are known whole.

The oracle is the history itself: what a walk may read of it is answered from
a plain list of changes, and what it must find is in the same list.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from recorder.intake.ports import HeldVersion
from recorder.sources.watch.past import (
    CompactedError,
    Then,
    WalkEndedError,
)
from recorder.sources.watch.span import Span, Walked
from recorder.sources.watch.walk import Walk
from recorder.sources.watch.witnesses import Witness

OTHER = "other"
"""What a version of another resource is of."""


@dataclass
class History:
    """Every change of a resource; its place in the list is its version."""

    changes: list[tuple[str, str] | str] = field(default_factory=list)
    """Name and uid for a version, the uid alone for a deletion."""

    compacted: int = 0
    requests: int | None = None

    def at(self, version: int) -> dict[str, HeldVersion]:
        alive: dict[str, HeldVersion] = {}
        for number, change in enumerate(self.changes[:version], 1):
            if isinstance(change, str):
                alive.pop(change, None)
            else:
                name, uid = change
                alive[uid] = HeldVersion("n", name, str(number))
        return alive

    def between(self, since: int, until: int) -> list[tuple[int, str, bool]]:
        """Return version, uid and whether it is a deletion."""
        found = []
        span = enumerate(self.changes[since:until], since + 1)
        for number, change in span:
            if isinstance(change, str):
                if change != OTHER:
                    found.append((number, change, True))
            else:
                found.append((number, change[1], False))
        return found

    async def snapshot(self, version: int) -> Mapping[str, HeldVersion]:
        self._ask(version)
        return self.at(version)

    async def read(self, held: HeldVersion, version: int) -> Then | None:
        self._ask(version)
        for uid, found in self.at(version).items():
            if found.name == held.name:
                return Then(uid, int(found.resource_version), b"{}")
        return None

    def _ask(self, version: int) -> None:
        if self.requests is not None:
            if not self.requests:
                msg = "its requests were used"
                raise WalkEndedError(msg)
            self.requests -= 1
        if version <= self.compacted:
            raise CompactedError(str(version))


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Objects of four names that come, change, go and come again."""
    history = History()
    alive: dict[str, str] = {}
    steps = draw(st.lists(st.tuples(st.integers(0, 4), st.booleans())))
    for number, (name, goes) in enumerate(steps):
        thing = f"o{name}"
        if name == 4:
            history.changes.append(OTHER)
        elif thing not in alive:
            alive[thing] = f"{thing}-{number}"
            history.changes.append((thing, alive[thing]))
        elif goes:
            history.changes.append(alive.pop(thing))
        else:
            history.changes.append((thing, alive[thing]))
    return history


def others(history: History) -> set[int]:
    """Return the versions of other resources."""
    numbered = enumerate(history.changes, 1)
    return {number for number, change in numbered if change == OTHER}


def walk(  # noqa: PLR0913 - each varies alone
    history: History,
    since: int,
    *,
    looks: int = 2,
    accounts: int = 1000,
    elsewhere: Sequence[int] = (),
    based: bool = False,
    held: int | None = None,
) -> Walked:
    """Walk to the end of a history; what is held may be newer than proven."""
    until = len(history.changes)
    span = Span(
        since=since,
        until=until,
        before=history.at(since if held is None else held),
        after=history.at(until),
        based=based,
    )
    walking = Walk(history, span, elsewhere=elsewhere)

    async def both() -> Walked:
        await walking.changes(looks=looks)
        await walking.account(looks=accounts)
        return walking.result()

    return asyncio.run(both())


def versions_of(walked: Walked) -> list[tuple[int, str, bool]]:
    return [(f.version, f.uid, f.deleted) for f in walked.found]


@given(histories(), st.data())
def test_a_walk_without_a_bound_finds_every_version(
    history: History, data: st.DataObject
) -> None:
    since = data.draw(st.integers(0, len(history.changes)))

    walked = walk(history, since, elsewhere=sorted(others(history)))

    assert versions_of(walked) == history.between(since, len(history.changes))
    assert walked.healed


@given(histories(), st.data())
def test_what_is_held_may_be_newer_than_what_is_proven(
    history: History, data: st.DataObject
) -> None:
    """A frame came of a version that no later one had completed."""
    last = len(history.changes)
    since = data.draw(st.integers(0, last))
    held = data.draw(st.integers(since, last))

    walked = walk(
        history,
        since,
        looks=0,
        elsewhere=sorted(others(history)),
        held=held,
    )

    found = versions_of(walked)
    assert set(history.between(held, last)) <= set(found)
    assert set(found) <= set(history.between(since, last))
    assert walked.healed


@given(histories(), st.data())
def test_what_a_walk_calls_healed_lacks_nothing(
    history: History, data: st.DataObject
) -> None:
    """Whatever is compacted, however few requests there are."""
    last = len(history.changes)
    since = data.draw(st.integers(0, last))
    history.compacted = data.draw(st.integers(0, last))
    history.requests = data.draw(st.none() | st.integers(0, 40))
    accounts = data.draw(st.integers(0, 20))

    walked = walk(history, since, accounts=accounts)

    missed = history.between(since, last)
    lacking = set(missed) - set(versions_of(walked))
    assert set(versions_of(walked)) <= set(missed)
    assert len(set(versions_of(walked))) == len(walked.found)
    assert versions_of(walked) == sorted(versions_of(walked))
    assert not (walked.healed and lacking)


@given(histories())
def test_a_walk_from_nothing_finds_the_earlier_state_of_what_changed(
    history: History,
) -> None:
    """So that its first change can be compared with something."""
    last = len(history.changes)
    since = last // 2

    walked = walk(history, since, elsewhere=range(last + 1), based=True)

    found = versions_of(walked)
    for version, uid, deleted in found:
        known = history.at(since).get(uid)
        if version > since and known is not None:
            assert (int(known.resource_version), uid, False) in found
        assert not deleted or version > since


def test_an_unknown_object_is_found_where_every_version_is_read() -> None:
    history = History([("a", "a1"), ("b", "b1"), "b1", OTHER])

    walked = walk(history, 1, looks=0, elsewhere=[4])
    blind = walk(history, 1, looks=0, accounts=0, elsewhere=[4])

    assert versions_of(walked) == [(2, "b1", False), (3, "b1", True)]
    assert walked.healed
    assert versions_of(blind) == []
    assert not blind.healed
    assert blind.unaccounted == 1


def test_one_version_that_nothing_accounts_for_hides_no_object() -> None:
    """Creation and deletion are two versions with no list in between."""
    history = History([("a", "a1"), *[OTHER] * 9])

    once = walk(history, 1, looks=0, accounts=0, elsewhere=[*range(2, 10)])
    twice = walk(history, 1, looks=0, accounts=0, elsewhere=[*range(2, 9)])
    between = walk(
        history, 1, looks=1, accounts=0, elsewhere=[3, 4, 5, *range(7, 11)]
    )

    assert once.healed
    assert not twice.healed
    assert between.healed, "a list of version 5 is between 2 and 6"


def test_who_lived_for_long_is_met_with_few_looks() -> None:
    """Among versions with nothing else known."""
    lived = [("b", "b1")] * 40 + ["b1"]
    history = History([("a", "a1"), *[OTHER] * 300, *lived, *[OTHER] * 200])

    walked = walk(history, 1, looks=0, accounts=16)

    assert versions_of(walked) == history.between(1, len(history.changes))
    assert not walked.healed


def test_an_object_that_came_and_went_is_found_by_name() -> None:
    """At the version of a witness: its own, or of an object that names it."""
    history = History(
        [("a", "a1"), OTHER, ("b", "b1"), "b1", OTHER, ("c", "c1"), "c1"]
    )
    last = len(history.changes)
    span = Span(
        since=1, until=last, before=history.at(1), after=history.at(last)
    )
    walking = Walk(history, span)
    witnesses = [
        Witness("b1", HeldVersion("n", "b", ""), (99, 5, 3)),
        Witness("c1", HeldVersion("n", "c", ""), (2,)),
        Witness("a1", HeldVersion("n", "a", ""), (1,)),
    ]

    async def hear() -> Walked:
        await walking.changes(looks=0)
        await walking.account(looks=0)
        await walking.hear(witnesses)
        return walking.result()

    walked = asyncio.run(hear())

    assert versions_of(walked) == [(3, "b1", False), (4, "b1", True)]
    assert not walked.healed


@given(histories(), st.data())
def test_whatever_a_witness_says_nothing_is_invented(
    history: History, data: st.DataObject
) -> None:
    last = len(history.changes)
    since = data.draw(st.integers(0, last))
    history.compacted = data.draw(st.integers(0, last))
    names = st.sampled_from(["o0", "o1", "o2", "o3", "never"])
    versions = st.lists(st.integers(0, last + 5), max_size=3)
    said = data.draw(st.lists(st.tuples(names, versions), max_size=6))
    witnesses = [
        Witness(f"{name}-7", HeldVersion("n", name, ""), tuple(at))
        for name, at in said
    ]
    span = Span(
        since=since,
        until=last,
        before=history.at(since),
        after=history.at(last),
    )
    walking = Walk(history, span, elsewhere=sorted(others(history)))

    async def hear() -> Walked:
        await walking.changes(looks=1)
        await walking.hear(witnesses)
        return walking.result()

    walked = asyncio.run(hear())

    missed = history.between(since, last)
    assert set(versions_of(walked)) <= set(missed)
    assert versions_of(walked) == sorted(set(versions_of(walked)))
    assert not (walked.healed and set(missed) - set(versions_of(walked)))
