"""The embedded server, as a command uses it.

Opening joins the server that runs for a data folder, or starts one. While it
is open a shared lock keeps the server alive, and a background thread starts a
new supervisor if it was killed, so that the returned addresses stay valid.
Closing releases the lock; the last to close waits, for a few seconds, until
the server has stopped.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from recorder.embedded.bootstrap import address
from recorder.embedded.errors import StartTimeoutError
from recorder.embedded.folder import DataFolder
from recorder.embedded.joining import Joined, Joining, leave, say_state
from recorder.embedded.keeper import Keeper
from recorder.embedded.passwords import Role, login_role
from recorder.embedded.state import Phase, read_state


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """How the server is started, as the first command decides."""

    shared_buffers: str = "256MB"
    """PostgreSQL's own cache. Its default of 128 MB is too small for the
    indices of a day; more would take memory from a small machine."""

    start_seconds: float = 120.0
    """How long to wait for it. A recovery of 6 GB takes 10 s on a fast disk;
    it continues when we stop waiting."""

    settings: Mapping[str, str] = field(default_factory=dict)
    """Further settings of postgresql.conf, over our own."""


class EmbeddedServer:
    """A running server that this process shares."""

    def __init__(self, folder: DataFolder, joined: Joined) -> None:
        self.folder = folder.path
        """The data folder."""
        self.version = joined.version
        """For example ``18.4``."""
        self.socket_folder = joined.socket_folder
        """The folder of its unix socket."""
        self._state = folder.state
        self._joined = joined

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        data_dir: Path,
        *,
        roles_sql: str,
        options: ServerOptions | None = None,
        on_wait: Callable[[str], None] | None = None,
    ) -> AsyncIterator[Self]:
        """Join the server of a data folder, starting it if none runs.

        Args:
            data_dir: created if missing; everything is in it.
            roles_sql: creates the group roles ``recorder_owner``,
                ``recorder_writer`` and ``recorder_reader`` with their
                privileges. Run as superuser in the database ``recorder``
                inside one transaction, whenever the text has changed.
            options: how to start it.
            on_wait: gets a line to show when there is something to wait for,
                and again every ten seconds.

        Raises:
            StartTimeoutError: it was not ready in time; it continues to start.
            EmbeddedError: it cannot be started; the message states why.
        """
        options = options or ServerOptions()
        folder = DataFolder.at(data_dir)
        folder.prepare()
        settings = {"shared_buffers": options.shared_buffers}
        keeper = Keeper(folder, {**settings, **options.settings})
        joining = Joining(folder, keeper, on_wait=on_wait)
        async with AsyncExitStack() as stack:
            async with _bounded(folder, options.start_seconds):
                await stack.enter_async_context(
                    _share(folder, joining, keeper)
                )
                joined = await joining.until_ready(roles_sql)
            with keeper:
                yield cls(folder, joined)

    def dsn(self, role: str) -> str:
        """Return the address for ``owner``, ``writer`` or ``reader``."""
        return address(
            self._joined.socket_folder,
            self._joined.passwords,
            name=login_role(Role(role)),
        )

    def trouble(self) -> str | None:
        """Why the server is unavailable at this moment, if it is."""
        state = read_state(self._state)
        if state is None or state.phase is Phase.READY:
            return None
        return state.message or say_state(state)


@asynccontextmanager
async def _share(
    folder: DataFolder, joining: Joining, keeper: Keeper
) -> AsyncIterator[None]:
    share = await joining.take_share()
    try:
        yield
    finally:
        await leave(folder, keeper, share=share)


@asynccontextmanager
async def _bounded(folder: DataFolder, seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as exc:
        words = say_state(read_state(folder.state))
        msg = (
            f'PostgreSQL in "{folder.path}" was not ready within'
            f" {seconds:g} s ({words}); it is still starting: try again"
            f' later, or see "{folder.log}"'
        )
        raise StartTimeoutError(msg) from exc
