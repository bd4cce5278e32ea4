"""Commands as separate processes, and their leftovers.

Root runs commands as itself and as ``nobody``; other users as themselves.
Every wait is bounded, and ends as soon as its condition is true.
"""

import asyncio
import json
import os
import pwd
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import asyncpg
import pytest

from recorder.embedded.account import Account
from recorder.embedded.binaries import find_binaries, place_binaries
from recorder.embedded.folder import DataFolder
from recorder.embedded.locks import is_unheld
from recorder.embedded.state import read_state

__all__ = [
    "IDENTITIES",
    "Command",
    "ask",
    "becoming",
    "end_all",
    "eventually",
    "fast_base",
    "is_quiet",
    "one_identity",
    "opened_programs",
    "owner_of",
    "processes_of",
    "query",
    "server_pid",
    "supervisor_pid",
]

ROOT_OF_TREE = Path(__file__).parents[2]
IDENTITIES = ("root", "nobody") if os.geteuid() == 0 else ("self",)

one_identity = pytest.mark.parametrize("identity", IDENTITIES[:1])
"""For tests to which it makes no difference who runs the commands."""

_FAST_BYTES_MIN = 2 * 1024**3
_NOEXEC = os.ST_NOEXEC if sys.platform == "linux" else 0

_ANSWER_SECONDS = 30.0
_EVENTUALLY_SECONDS = 20.0


def owner_of(identity: str) -> tuple[int, int]:
    """Return the user and group that an identity's files belong to."""
    if identity == "nobody":
        entry = pwd.getpwnam(identity)
        return entry.pw_uid, entry.pw_gid
    return os.getuid(), os.getgid()


def becoming(uid: int, gid: int) -> list[str]:
    """Return the arguments that run a command as another user.

    The interpreter may lie in a home that only root can enter; then the user
    gets one right of root's, to pass there. PostgreSQL's programs ask the
    kernel what the user may do without it: see `opened_programs`.
    """
    if uid == os.getuid():
        return []
    words = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
    needed = (Path(sys.executable), ROOT_OF_TREE, Path(sys.prefix))
    if all(_is_open(path.resolve()) for path in needed):
        return words
    right = "dac_override"
    return [*words, f"--inh-caps=+{right}", f"--ambient-caps=+{right}"]


@contextmanager
def opened_programs() -> Iterator[None]:
    """Let other users find the wheel's programs where all may run them.

    They are copied as root's own server has them copied.
    """
    if os.geteuid() != 0:
        yield
        return
    with tempfile.TemporaryDirectory(
        prefix="recorder-test-", dir=fast_base()
    ) as name:
        place = Path(name)
        place.chmod(0o755)
        uid, gid = owner_of("nobody")
        placed = place_binaries(
            find_binaries(),
            folder=DataFolder.at(place),
            account=Account(name="nobody", uid=uid, gid=gid, is_another=True),
        )
        package = placed.folder.parents[1]
        package.joinpath("__init__.py").touch()
        Command.others = {**os.environ, "PYTHONPATH": str(package.parent)}
        yield


class Command:
    """One process that uses the server of a folder."""

    running: ClassVar[set["Command"]] = set()
    """Those that no test has ended yet."""

    others: ClassVar[dict[str, str] | None] = None
    """The environment in which another user's commands find the programs."""

    def __init__(
        self,
        folder: Path,
        *extra: str,
        identity: str = "self",
        uid: int | None = None,
    ) -> None:
        owner = owner_of(identity) if uid is None else (uid, uid)
        words = [*becoming(*owner), sys.executable, "-m"]
        words += ["tests.embedded.command", str(folder), *extra]
        is_another = owner[0] != os.getuid()
        self.process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT_OF_TREE,
            env=self.others if is_another else None,
        )
        self.running.add(self)

    def answer(self) -> dict[str, Any]:
        """Wait for its output."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the command ended without a word"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def dsn(self, role: str = "writer") -> str:
        answer = self.answer()
        assert "dsn" in answer, answer
        dsn: str = answer["dsn"][role]
        return dsn

    def refusal(self) -> dict[str, Any]:
        """Wait for the error that it ends with."""
        answer = self.answer()
        self.close()
        assert "code" in answer, answer
        assert "\n" not in answer["error"]
        return answer

    def begin_to_leave(self) -> None:
        """Let it leave."""
        if self.process.stdin is not None:
            self.process.stdin.close()
            self.process.stdin = None

    def close(self) -> None:
        """Let it leave, and wait for its end."""
        self.begin_to_leave()
        self.process.communicate(timeout=_ANSWER_SECONDS)
        self.running.discard(self)

    def kill(self) -> None:
        self.process.kill()
        self.close()


def _is_open(path: Path) -> bool:
    return all(above.stat().st_mode & 0o001 for above in (path, *path.parents))


def eventually(is_true: Callable[[], bool]) -> None:
    """Wait until something is true; fail if it takes too long."""
    deadline = time.monotonic() + _EVENTUALLY_SECONDS
    while not is_true():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


async def ask(dsn: str, sql: str) -> Any:
    """Run one query."""
    connection = await asyncpg.connect(dsn, timeout=5)
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()


def query(dsn: str, sql: str) -> Any:
    """Run one query; retry while the server is unavailable."""
    answers: list[Any] = []

    def has_answered() -> bool:
        with suppress(
            OSError,
            asyncpg.InterfaceError,
            asyncpg.InternalClientError,
            asyncpg.PostgresError,
        ):
            answers.append(asyncio.run(ask(dsn, sql)))
        return bool(answers)

    eventually(has_answered)
    return answers[0]


def processes_of(folder: Path) -> list[int]:
    """Find the supervisor and every PostgreSQL process of a folder."""
    return [pid for pid, _ in _command_lines(folder)]


def server_pid(folder: Path) -> int:
    """Find the server process."""
    found = [pid for pid, line in _command_lines(folder) if "-D\0" in line]
    assert len(found) == 1, found
    return found[0]


def supervisor_pid(folder: Path) -> int:
    state = read_state(DataFolder.at(folder).state)
    assert state is not None
    return state.supervisor_pid


def is_quiet(folder: Path) -> bool:
    """Whether nothing is left: no lock held, no process alive."""
    data = DataFolder.at(folder)
    return (
        is_unheld(data.supervisor_lock)
        and is_unheld(data.processes_lock)
        and not processes_of(folder)
    )


def end_all(folder: Path) -> None:
    """Remove everything, also after a failed test."""
    for command in list(Command.running):
        command.kill()
    while left := processes_of(folder):
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def fast_base() -> str | None:
    """Return a folder in memory if there is one to run programs in."""
    memory = Path("/dev/shm")
    if not memory.is_dir() or not os.access(memory, os.W_OK):
        return None
    found = os.statvfs(memory)
    is_large = found.f_bavail * found.f_frsize > _FAST_BYTES_MIN
    return str(memory) if is_large and not found.f_flag & _NOEXEC else None


def _command_lines(folder: Path) -> Iterator[tuple[int, str]]:
    path = str(folder.resolve())
    title = f"postgres: {_cluster_name(folder)}"
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (entry / "cmdline").read_text(errors="replace")
            is_command = "tests.embedded.command" in line
            if not is_command and (path in line or line.startswith(title)):
                yield int(entry.name), line


def _cluster_name(folder: Path) -> str:
    configuration = DataFolder.at(folder).cluster / "postgresql.conf"
    with suppress(OSError):
        for line in configuration.read_text().splitlines():
            if line.startswith("cluster_name"):
                return line.split("'")[1]
    return "?"
