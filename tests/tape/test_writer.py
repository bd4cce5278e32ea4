"""The file that a tape is written to."""

from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from recorder.model.errors import ConfigError
from recorder.model.observation import (
    AuditRecorded,
    InputRefused,
    ListPage,
    Polled,
)
from recorder.model.zstd import decompress
from recorder.sources.tape import (
    TapeExistsError,
    TapeWriteError,
    TapeWriter,
    writer,
)
from recorder.sources.tape.whole import whole_tape
from tests.tape.builders import (
    HEADER,
    PODS,
    a_frame,
    a_pod,
    at,
    read,
    read_up_to_the_trouble,
)


def test_an_existing_file_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.tape.jsonl.zst"
    path.write_bytes(b"precious")

    with (
        pytest.raises(TapeExistsError, match="exists") as caught,
        TapeWriter(path, HEADER),
    ):
        pass

    assert isinstance(caught.value, ConfigError)
    assert path.read_bytes() == b"precious"


def test_an_existing_file_is_overwritten_on_request(tmp_path: Path) -> None:
    path = tmp_path / "a.tape.jsonl"
    path.write_bytes(b"x" * 10_000)

    with TapeWriter(path, HEADER, overwrite=True) as tape:
        tape.write([a_frame(1)])

    assert read(path) == [a_frame(1)]


@pytest.mark.parametrize("name", ["a.tape.jsonl.zst", "a.tape", "a.zst"])
def test_a_tape_is_compressed_unless_named_plain(
    tmp_path: Path, name: str
) -> None:
    for path in (tmp_path / name, tmp_path / "a.tape.jsonl"):
        with TapeWriter(path, HEADER) as tape:
            tape.write([a_frame(n) for n in range(5)])

    plain = (tmp_path / "a.tape.jsonl").read_bytes()

    assert plain.startswith(b'{"tape":"recorder/1"')
    assert decompress((tmp_path / name).read_bytes()) == plain


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "a.tape.jsonl"

    with (
        pytest.raises(TapeWriteError, match=r"No such file"),
        TapeWriter(path, HEADER),
    ):
        pass


def test_a_full_disk_is_reported_on_the_first_line() -> None:
    with (
        pytest.raises(TapeWriteError, match=r'"/dev/full": No space left'),
        TapeWriter(Path("/dev/full"), HEADER, overwrite=True),
    ):
        pass


def test_a_disk_that_fills_up_leaves_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.tape.jsonl"
    with TapeWriter(path, HEADER) as tape:
        tape.write([a_frame(1)])
        full = Path("/dev/full").open("wb", buffering=0)  # noqa: SIM115
        with full, monkeypatch.context() as patch:
            patch.setattr(tape, "_file", full)
            with pytest.raises(TapeWriteError, match="No space left"):
                tape.write([a_frame(2)])
        with pytest.raises(TapeWriteError, match="earlier write failed"):
            tape.write([a_frame(3)])
        with pytest.raises(TapeWriteError, match="earlier write failed"):
            tape.flush()

    assert read(path) == [a_frame(1)]


def test_a_document_that_no_line_can_hold_is_described(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.tape.jsonl.zst"
    torn = b'{"a":"' + b"x" * 5000
    with TapeWriter(path, HEADER) as tape:
        tape.write(
            [
                msgspec.structs.replace(a_frame(1), object=torn),
                ListPage(
                    observed_at=at(2),
                    resource=PODS,
                    resource_version="7",
                    items=[a_pod(1), torn, a_pod(2)],
                    more=False,
                ),
                AuditRecorded(observed_at=at(3), event=torn),
                Polled(observed_at=at(4), resource="a", items=[torn]),
                a_frame(5),
            ]
        )
        assert tape.frames == 7

    frame, listed, page, audit, polled, nothing, whole = read(path)

    for refused, seconds, resource, source in (
        (frame, 1, PODS, "watch"),
        (listed, 2, PODS, "watch"),
        (audit, 3, None, "audit"),
        (polled, 4, None, "slurm"),
    ):
        assert isinstance(refused, InputRefused)
        assert refused == InputRefused(
            observed_at=at(seconds),
            resource=resource,
            head=torn[:4096],
            sha256=sha256(torn).hexdigest(),
            length=len(torn),
            reason=refused.reason,
            source=source,
        )
        assert "cannot hold the document" in refused.reason
    assert isinstance(page, ListPage)
    assert page.items == [a_pod(1), a_pod(2)]
    assert nothing == Polled(observed_at=at(4), resource="a", items=[])
    assert whole == a_frame(5)


def test_closing_twice_does_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.tape.jsonl.zst"
    with TapeWriter(path, HEADER) as tape:
        tape.write([a_frame(1)])
        tape.close()

    assert read(path) == [a_frame(1)]


def test_an_error_of_the_recording_completes_the_tape(tmp_path: Path) -> None:
    path = tmp_path / "a.tape.jsonl.zst"

    def record() -> None:
        with TapeWriter(path, HEADER) as tape:
            tape.write([a_frame(1)])
            raise KeyError

    with pytest.raises(KeyError):
        record()

    assert read(path) == [a_frame(1)]


def test_the_last_lines_before_a_silence_are_flushed(tmp_path: Path) -> None:
    path = tmp_path / "a.tape.jsonl.zst"
    with TapeWriter(path, HEADER, steady=lambda: 0.0) as tape:
        tape.write([a_frame(1)])
        before = read_up_to_the_trouble(path)[0]
        tape.flush()
        after = read_up_to_the_trouble(path)[0]

    assert (before, after) == ([], [a_frame(1)])


def test_a_whole_tape_does_not_depend_on_how_long_it_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = tmp_path / "a.tape.jsonl.zst", tmp_path / "b.tape.jsonl.zst"
    for path, seconds in zip(paths, (60.0, 1e-9), strict=True):
        monkeypatch.setattr(writer, "FLUSH_SECONDS", seconds)
        with whole_tape(path, HEADER) as tape:
            for number in range(1, 4):
                tape.write([a_frame(number)])

    assert paths[0].read_bytes() == paths[1].read_bytes()
