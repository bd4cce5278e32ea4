"""Joining a server, and leaving it.

A command first takes its share of the lock, then checks whether a supervisor
is alive, starts one if not, and waits for a real connection: neither a pid nor
a file proves that PostgreSQL responds. Waiting has no limit of its own; the
caller bounds it.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from recorder.embedded.bootstrap import ensure_roles
from recorder.embedded.errors import (
    DataFolderError,
    EmbeddedError,
    from_code,
)
from recorder.embedded.folder import DataFolder, translate_os_errors
from recorder.embedded.keeper import Keeper
from recorder.embedded.locks import FileLock
from recorder.embedded.passwords import read_passwords
from recorder.embedded.state import Phase, State, read_state

_POLL_SECONDS = 0.03
_PATIENCE_SECONDS = 0.5
"""Shorter waits are not announced; a plain start takes 0.2 s."""

_REPEAT_SECONDS = 10.0
"""How often a wait is announced again."""

_LAUNCHES_MAX = 5
"""Supervisors that exit without a message before we stop trying."""

_STOP_SECONDS = 5.0
"""How long the last command waits for the server to stop; a container may end
with us, and a complete stop spares the next start a recovery."""

_NOT_YET = (
    OSError,
    asyncpg.CannotConnectNowError,
    asyncpg.InterfaceError,
    # What asyncpg raises when a connection breaks at a bad moment.
    asyncpg.InternalClientError,
    asyncpg.OperatorInterventionError,
    asyncpg.PostgresConnectionError,
    asyncpg.TooManyConnectionsError,
)
"""Errors of a server that starts, stops or has no free connection."""

_IN_WORDS = {
    Phase.CREATING: "a PostgreSQL cluster is being created",
    Phase.RECOVERING: "PostgreSQL is recovering from an unclean stop",
    Phase.RESTARTING: "PostgreSQL died and is starting again",
    Phase.STOPPING: "PostgreSQL is stopping, and will be started again",
}


_ON_THE_WAY_OUT = (Phase.READY, Phase.STOPPING, Phase.STOPPED, Phase.FAILED)
"""Ready, or ending because no command uses it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """A server that responded."""

    version: str
    socket_folder: Path
    passwords: Mapping[str, str] = field(repr=False)


class Joining:
    """The steps of one command until the server responds."""

    def __init__(
        self,
        folder: DataFolder,
        keeper: Keeper,
        *,
        on_wait: Callable[[str], None] | None,
    ) -> None:
        self._folder = folder
        self._keeper = keeper
        self._on_wait = on_wait
        self._announced = ("", time.monotonic())
        self._launches = 0

    async def take_share(self) -> FileLock:
        """Take a share of the lock that keeps the server alive."""
        folder = self._folder
        while True:
            with translate_os_errors("use the data folder", folder.path):
                lock = FileLock(folder.use_lock)
                # A lock on a file removed in between would exclude no process.
                if lock.take_shared() and lock.is_in_place():
                    return lock
                lock.close()
            self._announce(_say_phase(Phase.STOPPING))
            await asyncio.sleep(_POLL_SECONDS)

    async def until_ready(self, roles_sql: str) -> Joined:
        """Wait for the server, starting what is missing.

        Raises:
            EmbeddedError: it cannot be started, or rejects the roles.
        """
        old_news = read_state(self._folder.state)
        while True:
            state = read_state(self._folder.state)
            if self._keeper.is_supervised():
                joined = await self._connect(state, roles_sql)
                if joined is not None:
                    return joined
            else:
                _raise_failure(state, old_news)
                self._launch()
            self._announce(say_state(state))
            await asyncio.sleep(_POLL_SECONDS)

    def _launch(self) -> None:
        if self._launches == _LAUNCHES_MAX:
            msg = (
                f'cannot start PostgreSQL in "{self._folder.path}": its'
                f' supervisor exits at once; see "{self._folder.log}"'
            )
            raise EmbeddedError(msg)
        self._launches += 1
        self._folder.check_room()
        self._keeper.launch()

    async def _connect(
        self, state: State | None, roles_sql: str
    ) -> Joined | None:
        if state is None or state.phase is not Phase.READY:
            return None
        passwords = self._passwords()
        socket_folder = Path(state.socket_folder)
        try:
            version = await ensure_roles(
                socket_folder, passwords, roles_sql=roles_sql
            )
        except _NOT_YET:
            return None
        except asyncpg.InvalidPasswordError as exc:
            raise self._say_locked_out(exc) from exc
        except asyncpg.PostgresError as exc:
            msg = (
                "cannot set up database and roles of PostgreSQL in"
                f' "{self._folder.path}": {exc}'
            )
            raise EmbeddedError(msg) from exc
        return Joined(
            version=version,
            socket_folder=socket_folder,
            passwords=passwords,
        )

    def _passwords(self) -> Mapping[str, str]:
        try:
            return read_passwords(self._folder.passwords)
        except PermissionError as exc:
            msg = (
                f'cannot read "{self._folder.passwords}": it belongs to'
                " another user; run as that user"
            )
            raise DataFolderError(msg) from exc
        except (OSError, ValueError) as exc:
            raise self._say_locked_out(exc) from exc

    def _say_locked_out(self, why: Exception) -> EmbeddedError:
        return DataFolderError(
            f'cannot log in to PostgreSQL in "{self._folder.path}": the'
            f' passwords in "{self._folder.passwords}" cannot be'
            f" used ({why}); stop all commands that use it and remove the"
            " file: new ones will be made"
        )

    def _announce(self, words: str) -> None:
        now = time.monotonic()
        last, at = self._announced
        patience = _REPEAT_SECONDS if words == last else _PATIENCE_SECONDS
        if now - at >= patience:
            self._announced = (words, now)
            if self._on_wait is not None:
                self._on_wait(words)


async def leave(
    folder: DataFolder, keeper: Keeper, *, share: FileLock
) -> None:
    """Release the share; the last command waits for the server to stop.

    The wait is bounded: a server that takes longer stops anyway. One that is
    still starting is not waited for.
    """
    with share:
        # The kernel releases the share before it grants the exclusive lock,
        # which the supervisor may take first once no command shares it.
        is_last = share.take_exclusive() or not _is_shared(folder)
    with suppress(TimeoutError):
        async with asyncio.timeout(_STOP_SECONDS):
            while keeper.is_supervised() and is_last:
                if _is_shared(folder) or not _is_stopping(folder):
                    return
                await asyncio.sleep(_POLL_SECONDS)


def say_state(state: State | None) -> str:
    """Describe what the command waits for, and why."""
    if state is None or state.phase is Phase.FAILED:
        return _say_phase(Phase.STARTING)
    words = _say_phase(state.phase)
    return f"{words}: {state.message}" if state.message else words


def _say_phase(phase: Phase) -> str:
    return _IN_WORDS.get(phase, "PostgreSQL is starting")


def _raise_failure(state: State | None, old_news: State | None) -> None:
    if state is None or state.phase is not Phase.FAILED:
        return
    if old_news is None or old_news.instance != state.instance:
        raise from_code(state.error_code, state.message)


def _is_stopping(folder: DataFolder) -> bool:
    state = read_state(folder.state)
    return state is not None and state.phase in _ON_THE_WAY_OUT


def _is_shared(folder: DataFolder) -> bool:
    """Return whether another command has joined since we left.

    A supervisor that stops holds the lock exclusively until it ends. If the
    lock can be shared after it could not be held exclusively, others share it.
    """
    with suppress(OSError), FileLock(folder.use_lock) as probe:
        return not probe.take_exclusive() and probe.take_shared()
    return False
