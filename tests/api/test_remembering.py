"""A judgment is kept as long as it would be the same."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from api.access import LOCAL, Principal
from api.resolvers.remembering import VERDICTS_MAX, Found, JudgedOnce, LogState
from recorder.answers.incidents import Incidents, ask_incidents
from recorder.answers.loading.places import Whereabouts
from recorder.facts.coverage.coverage import Coverage
from recorder.facts.coverage.hole import Hole
from recorder.facts.coverage.ports import Archived, Log, Stream
from recorder.facts.topology import Topology
from recorder.model.reference import LogNumber
from recorder.model.window import Window
from tests.api.serving import Client

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = Window(NOON - 24 * HOUR, None)
TAPE = Log(
    id=1,
    kind="tape",
    cluster_name="x",
    cluster_uid="x",
    kubernetes="",
    size=9,
    recorded_at=NOON,
    holder=None,
    observed_at=NOON,
)
PODS = Stream(
    source="watch", resource="v1/pods", state="live", vouched_until=NOON
)
LESS: Any = "something of a day"
HERE = Archived(holes=[])
GONE = Hole(since=NOON, until=NOON + HOUR, reason="dropped")


@dataclass(frozen=True)
class Standing:
    """What is looked at of a reading."""

    log: Log = TAPE
    streams: Sequence[Stream] = (PODS,)
    elsewhere: Archived = HERE

    async def archived(self, window: Window) -> Archived:
        assert window == Window()
        return self.elsewhere


@dataclass(frozen=True)
class Reader:
    """A person who may not see everything."""

    cluster_uid: str = "x"
    held: Any = field(default=None)


async def state_of(
    reading: Standing, window: Window = DAY, who: Principal = LOCAL
) -> LogState | None:
    return await LogState.of(reading, who, window)  # type: ignore[arg-type]


async def a_state(number: int = 0) -> LogState:
    found = await state_of(Standing(), Window(NOON + number * HOUR, None))
    assert found is not None
    return found


def a_finding(count: int = 1) -> Found:
    one: Any = SimpleNamespace(verdicts=["one"])
    answer = Incidents(incidents=[one] * count, coverage=Coverage.of(DAY))
    return Found(answer, Whereabouts((), Topology()))


async def test_what_did_not_change_is_shown_as_of_now() -> None:
    kept, found = JudgedOnce(), a_finding()
    kept.keep(await a_state(), found)

    again = kept.at(await a_state(), NOON + HOUR)

    assert again is not None
    assert again.incidents.incidents == found.incidents.incidents
    assert again.incidents.coverage.now == NOON + HOUR
    assert found.incidents.coverage.now is None


@pytest.mark.parametrize(
    "other",
    [
        Standing(log=replace(TAPE, size=10)),
        Standing(log=replace(TAPE, observed_at=NOON + HOUR)),
        Standing(log=replace(TAPE, id=LogNumber(1, "other"))),
        Standing(streams=[replace(PODS, vouched_until=NOON + HOUR)]),
        Standing(streams=[]),
        Standing(log=replace(TAPE, derivation=2)),
        Standing(log=replace(TAPE, built_to=8)),
    ],
)
async def test_what_changed_is_judged_again(other: Standing) -> None:
    kept = JudgedOnce()
    before, now = await state_of(Standing()), await state_of(other)
    assert before is not None
    assert now is not None
    kept.keep(before, a_finding())

    assert kept.at(now, NOON) is None


async def test_another_window_is_judged_by_itself() -> None:
    kept = JudgedOnce()
    kept.keep(await a_state(1), a_finding())

    assert kept.at(await a_state(2), NOON) is None


@pytest.mark.parametrize(
    ("reading", "who"),
    [
        (Standing(log=replace(TAPE, kind="live")), LOCAL),
        (Standing(elsewhere=Archived(holes=[GONE])), LOCAL),
        (Standing(elsewhere=Archived(thinned=[LESS])), LOCAL),
        (Standing(), Principal("alice", Reader())),
    ],
)
async def test_nothing_is_kept_of_what_may_be_otherwise_a_moment_later(
    reading: Standing, who: Principal
) -> None:
    assert await state_of(reading, who=who) is None


async def test_what_is_kept_is_bounded() -> None:
    kept = JudgedOnce()
    for number in range(3):
        kept.keep(await a_state(number), a_finding(VERDICTS_MAX // 3 + 1))

    assert kept.at(await a_state(0), NOON) is None
    assert kept.at(await a_state(1), NOON) is not None
    assert kept.at(await a_state(2), NOON) is not None
    kept.keep(await a_state(3), a_finding(VERDICTS_MAX + 1))
    assert kept.at(await a_state(3), NOON) is None


async def test_a_tape_is_judged_once_for_all_who_ask_the_same(
    served: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = []

    async def noted(*given: Any, **more: Any) -> Incidents:
        judged.append(given[1])
        return await ask_incidents(*given, **more)

    monkeypatch.setattr("api.resolvers.answers.incidents.ask_incidents", noted)
    query = """query Asked($causes: [Cause!]) {
      incidents(cluster: "crash", since: "2026-01-01T00:00:01Z",
        causes: $causes) {
        count nodes { id sentence verdicts { id } } places { node value }
        coverage { complete says } } }"""

    first = await served.ask(query)
    again = await served.ask(query)
    none = await served.ask(query, causes=["DISK_FAULT"])

    assert first["incidents"]["count"]
    assert first == again
    assert none["incidents"]["count"] == 0
    assert len(judged) == 1
