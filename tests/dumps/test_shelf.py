"""What is on the shelf is in a temporary file, whose disk may be full."""

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recorder.model.errors import InputError
from recorder.model.reference import Resource
from recorder.sources.dumps import Shelf
from recorder.sources.dumps.things import Item

AT = datetime(2026, 11, 20, tzinfo=UTC)
PODS = Resource("", "v1", "pods")


@contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """Let the system refuse to write files any further, as a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def fill(shelf: Shelf, count: int) -> None:
    for number in range(count):
        shelf.put(
            Item(
                resource=PODS,
                kind="Pod",
                uid=f"uid-{number}",
                version=number,
                raw=bytes(10_000),
                at=None,
                is_event=False,
            ),
            0,
        )
    len(shelf)


STEPS: dict[str, Callable[[Shelf], object]] = {
    "put": lambda shelf: fill(shelf, 5000),
    "date": lambda shelf: shelf.date(0, AT),
    "sort": lambda shelf: [*shelf.placed()],
}


@pytest.mark.parametrize("step", STEPS)
def test_a_full_disk_is_named_with_the_folder_and_the_next_step(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with Shelf() as shelf:
        if step != "put":
            fill(shelf, 2000)
        if step == "sort":
            shelf.date(0, AT)
        with no_file_beyond(1 << 16), pytest.raises(InputError) as failed:
            STEPS[step](shelf)

    said = str(failed.value)
    assert "cannot keep what was read" in said
    assert f"in a temporary file in {tmp_path}: " in said
    assert "set TMPDIR to a folder with more room" in said


def test_without_tmpdir_the_folder_is_that_of_sqlite(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Which is not Python's, and in memory on fewer machines."""
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.delenv("SQLITE_TMPDIR", raising=False)
    with Shelf() as shelf:
        fill(shelf, 2000)
        folders = {
            str(Path(one.readlink()).parent)
            for one in Path("/proc/self/fd").iterdir()
            if one.is_symlink() and "etilqs_" in str(one.readlink())
        }
        with no_file_beyond(1 << 16), pytest.raises(InputError) as failed:
            shelf.date(0, AT)

    assert len(folders) == 1
    assert f"in {folders.pop()}: " in str(failed.value)
