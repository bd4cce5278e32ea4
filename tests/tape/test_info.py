"""What is shown of a tape."""

from pathlib import Path

from recorder.model.observation import (
    EpochBegan,
    InputRefused,
    ListPage,
    Observation,
    RequestFailed,
    StreamClosed,
)
from recorder.model.reference import Resource
from recorder.sources.tape import TapeGap, TapeTruncatedError, describe
from recorder.sources.tape import gaps as gaps_module
from recorder.sources.tape.gaps import GapFold
from tests.tape.builders import (
    HEADER,
    JOBS,
    PODS,
    a_frame,
    at,
    one_of_each,
    write,
)


def gaps_of(*observations: Observation) -> list[TapeGap]:
    fold = GapFold()
    for observation in observations:
        fold.add(observation)
    assert fold.count == len(fold.gaps())
    return fold.gaps()


def closed(seconds: float, reason: str) -> StreamClosed:
    return StreamClosed(observed_at=at(seconds), resource=PODS, reason=reason)


def listed(seconds: float, *, more: bool = False) -> ListPage:
    return ListPage(
        observed_at=at(seconds),
        resource=PODS,
        resource_version="1",
        items=[],
        more=more,
    )


def a_gap(
    since: float | None,
    until: float | None,
    reason: str,
    resource: Resource | None = PODS,
) -> TapeGap:
    return TapeGap(
        resource=resource,
        since=None if since is None else at(since),
        until=None if until is None else at(until),
        reason=reason,
    )


def test_a_tape_is_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tape.jsonl.zst", one_of_each())

    info = describe(path)

    assert info.header == HEADER
    assert info.identity.startswith("sha256:")
    assert info.frames == 11
    assert info.documents == 6
    assert info.counts["list", "v1/pods"] == 2
    assert info.counts["closed", "batch/v1/jobs"] == 1
    assert info.counts["poll", "slurm/jobs"] == 1
    assert info.counts["refused", ""] == 1
    assert (info.first_at, info.last_at) == (at(0), at(9))
    assert info.bytes_file == path.stat().st_size
    assert info.trouble is None


def test_a_tape_that_was_cut_is_described_as_far_as_it_goes(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "a.tape.jsonl", [a_frame(n) for n in range(9)])
    path.write_bytes(path.read_bytes()[:-5])

    info = describe(path)

    assert info.frames == 8
    assert info.last_at == at(7)
    assert isinstance(info.trouble, TapeTruncatedError)


def test_a_tape_without_frames_has_no_times(tmp_path: Path) -> None:
    info = describe(write(tmp_path / "a.tape.jsonl.zst", []))

    assert (info.frames, info.first_at, info.last_at) == (0, None, None)


def test_a_clock_that_was_set_back_does_not_turn_the_span(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.tape.jsonl"

    info = describe(write(path, [a_frame(n) for n in (5, 9, 1)]))

    assert (info.first_at, info.last_at) == (at(1), at(9))


def test_a_clean_end_is_no_gap() -> None:
    assert gaps_of(a_frame(1), closed(2, "eof"), a_frame(3)) == []
    assert gaps_of(a_frame(1), closed(2, "timeout"), a_frame(3)) == []
    assert gaps_of(a_frame(1), closed(2, "404")) == []


def test_an_expired_version_is_a_gap_until_the_list_is_complete() -> None:
    seen = gaps_of(
        a_frame(1), closed(5, "410"), listed(6, more=True), listed(7)
    )

    assert seen == [a_gap(1, 7, "410")]


def test_a_lost_connection_is_a_gap_until_the_next_frame() -> None:
    assert gaps_of(a_frame(1), closed(5, "reset"), a_frame(6)) == [
        a_gap(1, 6, "reset")
    ]


def test_a_gap_that_nothing_ends_stays_open() -> None:
    assert gaps_of(closed(5, "410"), a_frame(6)) == [a_gap(None, None, "410")]


def test_a_refused_request_is_a_gap_unless_there_is_nothing_to_ask() -> None:
    def failed(status: int) -> RequestFailed:
        return RequestFailed(
            observed_at=at(2), resource=JOBS, status=status, reason="no"
        )

    assert gaps_of(failed(403), failed(403)) == [
        a_gap(None, None, "403 no", JOBS)
    ]
    assert gaps_of(failed(404)) == []


def test_refused_input_and_a_new_epoch_are_moments() -> None:
    refused = InputRefused(
        observed_at=at(3),
        resource=PODS,
        head=b"",
        sha256="0" * 64,
        length=0,
        reason="no JSON",
    )
    epoch = EpochBegan(observed_at=at(4), reason="restored")

    assert gaps_of(refused, epoch) == [
        a_gap(3, 3, "no JSON"),
        a_gap(4, 4, "a new epoch: restored", None),
    ]


def test_gaps_are_kept_to_a_limit_and_all_counted() -> None:
    fold = GapFold()
    for number in range(gaps_module.GAPS_MAX + 5):
        fold.add(EpochBegan(observed_at=at(number), reason=""))

    assert len(fold.gaps()) == gaps_module.GAPS_MAX
    assert fold.count == gaps_module.GAPS_MAX + 5
