"""Playing: chunks, places, pace, and what is put before an error."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest

from recorder.intake.ports import Known, Source
from recorder.intake.receipts import Receipt, Receipts
from recorder.model.observation import ListPage, Observation, PlaceReached
from recorder.sources.tape import (
    TapeFrameError,
    TapeProgress,
    TapeSource,
    TapeTruncatedError,
)
from tests.tape.builders import BEGAN, a_frame, at, one_of_each, write


class Committed:
    """What a tape reads of the log: how far it was played."""

    def __init__(self, frame: int | None = None) -> None:
        self._frame = frame

    def resume_points(self) -> Mapping[str, str]:
        return {} if self._frame is None else {"tape": str(self._frame)}


def known(frame: int | None = None) -> Known:
    return cast("Known", Committed(frame))


class Puts:
    """A sink that remembers each call, and when it came."""

    def __init__(self, clock: "Hours | None" = None) -> None:
        self.calls: list[Sequence[Observation]] = []
        self.times: list[float] = []
        self._clock = clock

    async def put(self, observations: Sequence[Observation]) -> Receipt:
        self.calls.append(observations)
        self.times.append(self._clock.now() if self._clock else 0.0)
        return Receipt(Receipts())

    def observations(self) -> list[Observation]:
        return [
            one
            for call in self.calls
            for one in call
            if not isinstance(one, PlaceReached)
        ]

    def positions(self) -> list[int]:
        return [
            int(one.place)
            for call in self.calls
            for one in call
            if isinstance(one, PlaceReached)
        ]


class Hours:
    """A steady clock that passes only while a task sleeps."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> float:
        return 1000.0 + sum(self.slept)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.tape.jsonl.zst"


async def played(
    path: Path,
    *,
    from_frame: int | None = None,
    speed: float | None = None,
    clock: Hours | None = None,
) -> Puts:
    puts = Puts(clock)
    source: Source = TapeSource(path, speed=speed, clock=clock)
    await source.run(puts, known(from_frame))
    return puts


async def test_everything_is_put_in_order(path: Path) -> None:
    frames = [*one_of_each(), *(a_frame(n) for n in range(600))]

    puts = await played(write(path, frames))

    assert puts.observations() == frames


async def test_each_call_ends_with_the_place_behind_it(path: Path) -> None:
    puts = await played(write(path, [a_frame(n) for n in range(600)]))

    assert puts.positions() == [*range(0, 600, 64), 600]
    assert all(isinstance(call[-1], PlaceReached) for call in puts.calls)
    assert [call[-1].observed_at for call in puts.calls] == [
        BEGAN,
        *(at(n) for n in range(63, 599, 64)),
        at(599),
    ]


async def test_a_list_follows_the_place_before_it(path: Path) -> None:
    """The log is looked up for it, and all before it is committed then."""
    pages = [one for one in one_of_each() if isinstance(one, ListPage)]
    frames: list[Observation] = [a_frame(1), *pages, a_frame(2)]

    puts = await played(write(path, frames))

    put = [one for call in puts.calls for one in call]
    number = 0
    for before, one in pairwise(put):
        if isinstance(one, ListPage):
            assert isinstance(before, PlaceReached)
            assert int(before.place) == number
        number += not isinstance(one, PlaceReached)
    assert pages
    assert puts.observations() == frames


async def test_a_chunk_is_bounded_in_bytes(path: Path) -> None:
    puts = await played(write(path, [a_frame(n, 400_000) for n in range(7)]))

    assert puts.positions() == [0, 3, 6, 7]


@pytest.mark.parametrize("start", [0, 1, 63, 64, 299, 300])
async def test_playing_goes_on_at_a_frame(path: Path, start: int) -> None:
    frames = [a_frame(n) for n in range(300)]

    puts = await played(write(path, frames), from_frame=start)

    assert puts.observations() == frames[start:]
    assert puts.positions()[0] == start
    assert puts.positions()[-1] == 300


async def test_stopping_at_any_place_loses_and_doubles_nothing(
    path: Path,
) -> None:
    frames = [a_frame(n) for n in range(600)]
    write(path, frames)
    whole = await played(path)
    for stopped in range(1, len(whole.calls)):
        committed = [one for call in whole.calls[:stopped] for one in call]
        place = committed[-1]
        assert isinstance(place, PlaceReached)

        rest = await played(path, from_frame=int(place.place))

        before = [c for c in committed if not isinstance(c, PlaceReached)]
        assert before + rest.observations() == frames


async def test_frames_before_the_first_are_not_looked_into(
    path: Path,
) -> None:
    """They were played; what was wrong with one was reported then."""
    plain = path.with_name("a.tape.jsonl")
    write(plain, [a_frame(n) for n in range(5)])
    lines = plain.read_bytes().split(b"\n")
    lines[1] = b"?"
    plain.write_bytes(b"\n".join(lines))

    puts = await played(plain, from_frame=1)

    assert puts.observations() == [a_frame(n) for n in range(1, 5)]


@pytest.mark.parametrize("speed", [1.0, 100.0])
async def test_frames_keep_their_distances(path: Path, speed: float) -> None:
    clock = Hours()
    write(path, [a_frame(n) for n in (0, 10, 10, 40)])

    puts = await played(path, speed=speed, clock=clock)

    assert clock.slept == pytest.approx([10 / speed, 30 / speed])
    assert [len(call) for call in puts.calls] == [1, 2, 3, 2]
    assert puts.times[1:] == pytest.approx(
        [1000, 1000 + 10 / speed, 1000 + 40 / speed]
    )


async def test_at_full_speed_nothing_sleeps(path: Path) -> None:
    clock = Hours()
    write(path, [a_frame(n) for n in (0, 3600, 7200)])

    await played(path, clock=clock)

    assert clock.slept == []


async def test_a_clock_that_was_set_back_costs_no_time(path: Path) -> None:
    clock = Hours()
    write(path, [a_frame(n) for n in (0, 5000, 1000, 1003)])

    await played(path, speed=1.0, clock=clock)

    assert clock.slept == pytest.approx([5000, 3])


async def test_many_frames_a_second_share_their_pauses(path: Path) -> None:
    clock = Hours()
    write(path, [a_frame(n) for n in range(1000)])

    await played(path, speed=1000.0, clock=clock)

    assert len(clock.slept) <= 101
    assert sum(clock.slept) == pytest.approx(1, abs=0.02)


async def test_what_precedes_a_cut_is_put_before_the_error(
    path: Path,
) -> None:
    plain = path.with_name("a.tape.jsonl")
    write(plain, [a_frame(n) for n in range(10)])
    plain.write_bytes(plain.read_bytes()[:-20])
    puts = Puts()

    with pytest.raises(TapeTruncatedError, match="line 11"):
        await TapeSource(plain).run(puts, known())

    assert puts.observations() == [a_frame(n) for n in range(9)]
    assert puts.positions() == [0, 9]


async def test_what_precedes_a_bad_line_is_put_before_the_error(
    path: Path,
) -> None:
    plain = path.with_name("a.tape.jsonl")
    write(plain, [a_frame(n) for n in range(300)])
    plain.write_bytes(plain.read_bytes() + b"{}\n")
    puts = Puts()

    with pytest.raises(TapeFrameError, match="line 302"):
        await TapeSource(plain).run(puts, known())

    assert puts.observations() == [a_frame(n) for n in range(300)]
    assert puts.positions() == [*range(0, 300, 64), 300]


async def test_an_error_of_the_sink_ends_the_playing(path: Path) -> None:
    class Full(Puts):
        async def put(self, observations: Sequence[Observation]) -> Receipt:
            receipt = await super().put(observations)
            if len(self.calls) == 2:
                raise ConnectionError
            return receipt

    puts = Full()

    with pytest.raises(ConnectionError):
        await TapeSource(write(path, [a_frame(n) for n in range(900)])).run(
            puts, known()
        )

    assert puts.positions() == [0, 64]


async def test_progress_ends_with_the_whole_file(path: Path) -> None:
    shown: list[TapeProgress] = []
    write(path, [a_frame(n) for n in range(600)])

    await TapeSource(path, on_progress=shown.append).run(Puts(), known())

    assert [progress.frame for progress in shown] == [*range(0, 600, 64), 600]
    assert shown[-1].bytes_read == shown[-1].bytes_total > 0
    assert shown[-1].at == at(599)
