"""The crash matrix of the embedded server: its maker is killed.

A supervisor makes an installation out of nothing, and dies before calls that
change a file, a folder or a process: the first that a line of code makes, and
the one in the middle. It dies as well while it starts a server that
exists and whose passwords are lost; and so does a command that makes
database and roles. What the next command finds is the same each time: a
server that answers, and beside it what an undisturbed one has. Each commit
another sample of these deaths is died; ``make scenarios`` dies all.
"""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import asyncpg
import pytest

import recorder.embedded
from recorder.embedded import supervisor
from recorder.embedded.bootstrap import address, ensure_roles
from recorder.embedded.locks import FileLock
from recorder.embedded.passwords import SUPERUSER, read_passwords
from recorder.embedded.server import EmbeddedServer, ServerOptions
from recorder.wiring.database import roles_sql
from tests.crash.campaign import kills_of
from tests.crash.failpoints import Failpoints, Kill
from tests.crash.statements import StatementLoop, watch_statements
from tests.embedded.running import end_all, eventually, fast_base, is_quiet
from tests.support.sampling import sampled

CALLS = {
    "chmod", "chown", "fchown", "fork_exec", "kill", "link", "mkdir",
    "rename", "replace", "rmdir", "sendfile", "symlink", "truncate",
    "unlink", "waitpid", "write",
}  # fmt: skip
METHODS = {"bind", "write"}
OURS = str(Path(recorder.embedded.__path__[0]))
WITH_ROWS_OF_THEIR_OWN = ("state:", "passwords:")
"""See `test_files`."""

DEATHS = 10
"""Of about forty; after each a server is made."""

DEATHS_OF_ROLES = 20
"""Of about a hundred."""

FAST = {"fsync": "off", "full_page_writes": "off"}
OPTIONS = ServerOptions(shared_buffers="16MB", settings=FAST)
ROLES = """
    select r.rolname, r.rolcanlogin, r.rolpassword is not null,
      array(select m.roleid::regrole::text from pg_auth_members m
            where m.member = r.oid order by 1),
      (select datacl::text from pg_database where datname = 'recorder')
    from pg_authid r where r.rolname like 'recorder%' order by 1
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A data folder to be, in memory where that can be."""
    with tempfile.TemporaryDirectory(
        prefix="recorder-test-", dir=fast_base()
    ) as name:
        Path(name).chmod(0o755)
        yield Path(name) / "data"
        end_all(Path(name) / "data")


def in_a_child(live: Callable[[], None]) -> int:
    """Live in a process of its own; return how it ended."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            live()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def supervise(folder: Path, kill: Kill | None, passed: Path) -> int:
    """Supervise in a process until the server is ready, or death."""
    folder.mkdir(mode=0o700, exist_ok=True)
    with FileLock(folder / "use.lock") as wanted:
        assert wanted.take_shared(), "it is not in use yet"
        return in_a_child(lambda: _supervise(folder, Failpoints(kill), passed))


def _supervise(folder: Path, failpoints: Failpoints, passed: Path) -> None:
    def pass_by(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and _changes(called):
            place = _place(frame)
            if not place.startswith(WITH_ROWS_OF_THEIR_OWN):
                failpoints.pass_by(f"{place}, {called.__name__}")
        elif event == "call" and frame.f_code.co_name == "_stay":
            sys.setprofile(None)
            passed.write_text(json.dumps(failpoints.passed))
            os._exit(0)

    with (folder / "postgres.log").open("ab") as log:
        os.dup2(log.fileno(), 2)
    arguments = [f"--set={name}={value}" for name, value in FAST.items()]
    sys.setprofile(pass_by)
    supervisor.main([str(folder), *arguments])


def _changes(called: Any) -> bool:
    is_function = isinstance(called.__self__, ModuleType)
    return called.__name__ in (CALLS if is_function else METHODS)


def _place(frame: FrameType | None) -> str:
    """Name the line of the package that a call comes from."""
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(OURS):
            return f"{Path(name).stem}:{frame.f_lineno}"
        frame = frame.f_back
    return "elsewhere"


async def used(folder: Path) -> dict[str, bytes]:
    """Use a server as a command does; return what it is made of."""
    async with EmbeddedServer.open(
        folder, roles_sql=roles_sql(), options=OPTIONS
    ) as server:
        for role in ("owner", "writer", "reader"):
            connection = await asyncpg.connect(server.dsn(role))
            assert await connection.fetchval("select 1") == 1
            await connection.close()
        return made_of(folder)


def made_of(folder: Path) -> dict[str, bytes]:
    """Return the names of what lies there, and the texts of what is ours."""
    found = {
        name: (folder / "postgres" / name).read_bytes()
        for name in ("postgresql.conf", "pg_hba.conf", "PG_VERSION")
    }
    places = [folder, folder / "socket", *folder.glob("postgresql-*/*")]
    for place in places:
        found |= {str(path): b"" for path in place.iterdir()}
    return found


def dying(
    folder: Path, begin: Callable[[], None], passed: Path, upto: str = ""
) -> Iterator[Kill]:
    """Die at a sample of all places up to one, each time from one beginning.

    The last of them, after which all is made, is one of the sample.
    """
    begin()
    assert supervise(folder, None, passed) == 0
    counted: Counter[str] = Counter(json.loads(passed.read_text()))
    places = [*counted]
    end = places.index(upto) + 1 if upto else len(places)
    kills = [
        Kill(place, passage)
        for place in places[:end]
        for passage in sorted({1, (counted[place] + 1) // 2})
    ]
    assert len(kills) > 20
    died = 0
    chosen = sampled(f"installing {upto}", kills[:-1], DEATHS)
    for kill in [*chosen, kills[-1]]:
        eventually(lambda: is_quiet(folder))
        begin()
        status = supervise(folder, kill, passed)
        # How often a line waits for a process is the machine's affair.
        assert status == -signal.SIGKILL or "waitpid" in kill.place, kill
        died += status == -signal.SIGKILL
        yield kill
    assert died > len(chosen) / 2


@pytest.mark.timeout(300)
def test_an_installation_that_was_begun_is_finished(
    folder: Path, tmp_path: Path
) -> None:
    def begin() -> None:
        shutil.rmtree(folder, ignore_errors=True)

    whole = asyncio.run(used(folder))
    line = the_line_of("fresh.rename(folder.cluster)")
    upto = f"cluster:{line}, rename"
    for kill in dying(folder, begin, tmp_path / "passed", upto):
        assert asyncio.run(used(folder)) == whole, kill


def the_line_of(text: str) -> int:
    """Return the number of the line that ends the making of a cluster."""
    lines = Path(OURS, "cluster.py").read_text().splitlines()
    (found,) = (n for n, line in enumerate(lines, 1) if line.strip() == text)
    return found


@pytest.mark.timeout(300)
def test_a_start_that_was_begun_is_made_again(
    folder: Path, tmp_path: Path
) -> None:
    kept = folder.with_name("kept")

    def begin() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(["cp", "-a", kept, folder], check=True)
        (folder / "passwords.json").unlink()

    whole = asyncio.run(used(folder))
    eventually(lambda: is_quiet(folder))
    folder.rename(kept)
    for kill in dying(folder, begin, tmp_path / "passed"):
        assert asyncio.run(used(folder)) == whole, kill


@pytest.mark.timeout(300)
async def test_roles_that_were_half_made_are_made(
    folder: Path, tmp_path: Path
) -> None:
    async with EmbeddedServer.open(
        folder, roles_sql=roles_sql(), options=OPTIONS
    ) as server:
        socket = server.socket_folder
        passwords = read_passwords(folder / "passwords.json")
        dsn = address(socket, passwords, name=SUPERUSER, database="postgres")
        superuser = await asyncpg.connect(dsn)
        whole = await superuser.fetch(ROLES)
        assert len(whole) == 10
        passed = tmp_path / "passed"

        def make(kill: Kill | None) -> Callable[[], None]:
            def live() -> None:
                asyncio._set_running_loop(None)
                failpoints = Failpoints(kill)
                watch_statements(failpoints)
                making = ensure_roles(socket, passwords, roles_sql=roles_sql())
                loop = StatementLoop(failpoints)
                loop.run_until_complete(making)
                passed.write_text(json.dumps(failpoints.passed))

            return live

        async def unmake() -> None:
            await superuser.execute(
                "drop database if exists recorder with (force)"
            )
            for role, *_ in reversed(whole):
                await superuser.execute(f"drop role if exists {role}")

        await unmake()
        assert in_a_child(make(None)) == 0
        kills = kills_of(Counter(json.loads(passed.read_text())))
        assert len(kills) > 50
        for kill in sampled("roles", kills, DEATHS_OF_ROLES):
            await unmake()
            assert in_a_child(make(kill)) == -signal.SIGKILL, kill
            await ensure_roles(socket, passwords, roles_sql=roles_sql())
            assert await superuser.fetch(ROLES) == whole, kill
        await superuser.close()
