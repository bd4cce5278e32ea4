"""The crash matrix of files: its writer is killed at every step.

A step is a call that changes a file or a folder: a process is killed before
it and after it. What is found then is the old file or the new one, and the
next process goes on. The log itself is in `test_matrix`.
"""

import asyncio
import itertools
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
)

from recorder.embedded import server_log
from recorder.embedded.errors import AlreadyRecordingError
from recorder.embedded.folder import DataFolder
from recorder.embedded.locks import RecordingLock
from recorder.embedded.passwords import (
    make_passwords,
    read_passwords,
    write_passwords,
)
from recorder.embedded.state import Phase, State, read_state, write_state
from recorder.integrity.notes import SignedNote, sign
from recorder.keeping.checkpoints.folder import Folder
from recorder.keeping.redaction_key import load_key
from recorder.keeping.signing_key import (
    load_signing_key,
    rotate,
    trust,
    trusted_keys,
)
from recorder.keeping.tokens import TokenFile
from recorder.model.settings import Settings
from recorder.sources.tape import TapeTruncatedError, TapeWriter
from recorder.sources.tape.whole import whole_tape
from recorder.wiring.addresses import announced
from recorder.wiring.control import NoRecorderError, ask_for_tape, control
from recorder.wiring.live import LiveRecording
from tests.tape.builders import HEADER, a_frame, read_up_to_the_trouble

CHANGES = {
    "bind", "open", "write", "writelines", "flush", "fsync", "close",
    "replace", "rename", "link", "unlink", "mkdir", "chmod", "fchown",
    "ftruncate", "pwrite", "sendfile", "truncate",
}  # fmt: skip
FRAMES = [a_frame(number) for number in range(20)]


def deaths(action: Callable[[], object]) -> Iterator[None]:
    """Let processes act, each killed one step later; the last one lives."""
    for step in itertools.count():
        child = os.fork()
        if child == 0:
            _die(action, step)
        _, status = os.waitpid(child, 0)
        yield
        if not os.WIFSIGNALED(status):
            assert status == 0
            assert step > 4, "it was killed at some"
            return


def _die(action: Callable[[], object], at: int) -> None:
    passed = 0

    def pass_by(_: FrameType, event: str, called: Any) -> None:
        nonlocal passed
        if event.startswith("c_") and called.__name__ in CHANGES:
            if passed == at:
                os.kill(os.getpid(), signal.SIGKILL)
            passed += 1

    status = 1
    try:
        sys.setprofile(pass_by)
        action()
        sys.setprofile(None)
        status = 0
    finally:
        os._exit(status)


def test_one_redaction_key_is_made(tmp_path: Path) -> None:
    for number in itertools.count():
        settings = Settings(data_dir=tmp_path / str(number))
        made = deaths(lambda: load_key(settings))  # noqa: B023 - used at once
        for _ in itertools.islice(made, number):
            pass
        path = settings.data_dir / "redaction.key"
        found = path.read_text() if path.exists() else None
        key = load_key(settings)

        assert found is None or bytes.fromhex(found) == key
        assert load_key(settings) == key
        assert list(settings.data_dir.iterdir()) == [path]
        if next(made, "over") == "over":
            return


def test_a_signing_key_is_replaced_or_not(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    now = datetime(2026, 11, 24, tzinfo=UTC)
    trust(settings, load_signing_key(settings), now)

    for _ in deaths(lambda: rotate(settings, now)):
        before = {key.public for key in trusted_keys(settings)}
        key = load_signing_key(settings)
        trust(settings, key, now)
        after = {one.public for one in trusted_keys(settings)}
        assert before <= after, "what was signed before still counts"
        assert key.public_key().public_bytes_raw() in after
    assert len(trusted_keys(settings)) > 1


def test_a_checkpoint_is_in_its_folder_or_counted_as_damaged(
    tmp_path: Path,
) -> None:
    key = Ed25519PrivateKey.generate()
    now = datetime(2026, 11, 24, tzinfo=UTC)
    folder = Folder(tmp_path / "checkpoints")
    (tmp_path / "checkpoints").mkdir()
    first = sign("one\n1\n", key, "one")
    folder.add("log", first, now)
    notes: Sequence[SignedNote] = []

    for number, _ in enumerate(
        deaths(lambda: folder.add("log", sign("two\n", key, "two"), now))
    ):
        notes, damaged = asyncio.run(folder.read("log"))
        assert str(notes[0]) == str(first)
        assert len(notes) + damaged <= number + 2
        assert all(str(n) != "" for n in notes)
    assert notes[-1].text == "two\n"


def test_tokens_are_as_before_or_as_after(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    first = TokenFile(path).add("first")

    for _ in deaths(lambda: TokenFile(path).add("second")):
        tokens = TokenFile(path)
        assert tokens.holder(first) is not None
        names = [token.name for token in tokens.tokens()]
        assert names in (["first"], ["first", "second"])
        if len(names) > 1:
            tokens.revoke("second")

    kept = path.read_bytes()
    for _ in deaths(lambda: TokenFile(path).revoke("first")):
        tokens = TokenFile(path)
        assert len(tokens.tokens()) in {0, 1}
        path.write_bytes(kept)


def test_the_passwords_of_the_server_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "passwords.json"
    old, new = make_passwords(), make_passwords()
    write_passwords(path, old)

    for _ in deaths(lambda: write_passwords(path, new)):
        assert read_passwords(path) in (old, new)
    assert read_passwords(path) == new


def test_what_the_supervisor_says_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "postgres.json"
    old, new = (
        State(instance="a", supervisor_pid=1, phase=phase)
        for phase in (Phase.STARTING, Phase.READY)
    )
    write_state(path, old)

    for _ in deaths(lambda: write_state(path, new)):
        assert read_state(path) in (old, new)
    assert read_state(path) == new


def test_who_records_is_known_while_it_lives_and_no_longer(
    tmp_path: Path,
) -> None:
    def record() -> None:
        with RecordingLock(tmp_path):
            pass

    for _ in deaths(record):
        with (
            RecordingLock(tmp_path),
            pytest.raises(AlreadyRecordingError, match=f"{os.getpid()} rec"),
        ):
            RecordingLock(tmp_path).__enter__()


def test_what_the_server_said_is_kept_when_its_file_is_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_log, "_BYTES_MAX", 100)
    folder = DataFolder(tmp_path)
    before = folder.log.with_name(f"{folder.log.name}.1")
    said = b"a line that matters\n" * 9

    def said_again() -> None:
        os.close(server_log.open_log(folder))
        folder.log.write_bytes(said)

    said_again()
    for _ in deaths(lambda: server_log.bound_log(folder)):
        files = [path for path in (folder.log, before) if path.exists()]
        assert said in {path.read_bytes() for path in files}
        server_log.bound_log(folder)
        assert before.read_bytes() == said
        assert folder.log.read_bytes() == b""
        assert sorted(tmp_path.iterdir()) == [folder.log, before]
        said_again()


def test_a_recorder_can_be_asked_again(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)

    async def serve() -> None:
        async with control(settings, LiveRecording()):
            asked = ask_for_tape(settings, tmp_path / "a", asyncio.Event())
            # Nothing is recorded, and that is an answer.
            with pytest.raises(NoRecorderError, match="nothing to record"):
                await anext(asked)

    for _ in deaths(lambda: asyncio.run(serve())):
        asyncio.run(serve())
        assert list(tmp_path.iterdir()) == []


def test_the_address_of_the_page_is_whole(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    path = tmp_path / "serve.address"
    old, new = "http://127.0.0.1:40001/", "http://127.0.0.1:40002/"
    whole = {None, f"{old}\nabc\n", f"{new}\ndef\n"}

    def left() -> str | None:
        return path.read_text() if path.exists() else None

    path.write_text(f"{old}\nabc\n")

    def announce() -> None:
        with announced(settings, new, "def"):
            assert left() == f"{new}\ndef\n"

    for _ in deaths(announce):
        assert left() in whole
        path.write_text(f"{old}\nabc\n")
    assert list(tmp_path.iterdir()) == [path]


def test_a_tape_is_readable_up_to_the_death(tmp_path: Path) -> None:
    path = tmp_path / "a.tape.jsonl.zst"

    def record() -> None:
        with TapeWriter(path, HEADER, overwrite=True) as tape:
            for frame in FRAMES:
                tape.write([frame])
                tape.flush()

    for _ in deaths(record):
        if not path.exists():
            continue
        seen, trouble = read_up_to_the_trouble(path)
        assert seen == FRAMES[: len(seen)]
        assert trouble is None or isinstance(trouble, TapeTruncatedError)
    assert read_up_to_the_trouble(path) == (FRAMES, None)


def test_a_tape_that_is_cut_is_there_whole_or_not_at_all(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.tape.jsonl.zst"

    def cut() -> None:
        with whole_tape(path, HEADER) as tape:
            tape.write(FRAMES)

    for _ in deaths(cut):
        if path.exists():
            assert read_up_to_the_trouble(path) == (FRAMES, None)
            path.unlink()
