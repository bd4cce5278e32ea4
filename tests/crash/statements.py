"""Every statement that the driver sends as failpoints, and every COPY.

Of each there are four: before anything is sent, after a message was sent,
when an answer has come and was not read, and when it was read. They are
taken where the driver is public, its methods and the event loop's connection.
"""

import asyncio
import functools
import importlib
import pkgutil
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg

from recorder import store
from recorder.store.statement import Statement
from tests.crash.failpoints import Failpoints

__all__ = ["StatementLoop", "name_of", "watch_statements"]

SENDERS = ("execute", "executemany", "fetch", "fetchrow", "fetchval")
SHOWN = 60


def _constants() -> dict[str, str]:
    """Return the statements of the store, by their text."""
    found: dict[str, str] = {}
    for module in pkgutil.iter_modules(store.__path__):
        loaded = importlib.import_module(f"{store.__name__}.{module.name}")
        for name, value in vars(loaded).items():
            if isinstance(value, Statement):
                found.setdefault(value.text, f"{module.name}.{name}")
            elif name.isupper() and isinstance(value, str):
                found.setdefault(value, f"{module.name}.{name}")
    return found


_CONSTANTS = _constants()
"""Found once, before any child is forked: to import all of the store takes
longer than most children live."""


@functools.cache
def name_of(statement: str) -> str:
    """Name a statement: the constant it is, else its beginning."""
    return _CONSTANTS.get(statement) or " ".join(statement.split())[:SHOWN]


class _Wire(asyncio.Transport):
    """The driver's way to the server."""

    def __init__(self, inner: asyncio.Transport, points: Failpoints) -> None:
        super().__init__()
        self._inner = inner
        self._points = points
        self.statement = "connect"

    def write(self, data: Any) -> None:
        letter = chr(data[0]) if data[0] else "startup"
        self._inner.write(data)
        self._points.pass_by(f"{self.statement}, sent {letter}")

    def writelines(self, list_of_data: Any) -> None:
        self._inner.writelines(list_of_data)
        self._points.pass_by(f"{self.statement}, sent lines")

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._inner.get_extra_info(name, default)

    def is_closing(self) -> bool:
        return self._inner.is_closing()

    def close(self) -> None:
        self._inner.close()

    def abort(self) -> None:
        self._inner.abort()

    def pause_reading(self) -> None:
        self._inner.pause_reading()

    def resume_reading(self) -> None:
        self._inner.resume_reading()

    def get_write_buffer_size(self) -> int:
        return self._inner.get_write_buffer_size()


class _Listener(asyncio.Protocol):
    """Hands to the driver what the server says."""

    def __init__(self, driver: Any, points: Failpoints) -> None:
        self.driver = driver
        self.wire: _Wire
        self._points = points

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.wire = _Wire(transport, self._points)
        self.driver.connection_made(self.wire)

    def data_received(self, data: bytes) -> None:
        self._points.pass_by(f"{self.wire.statement}, answered")
        self.driver.data_received(data)

    def eof_received(self) -> bool | None:
        answer: bool | None = self.driver.eof_received()
        return answer

    def connection_lost(self, exc: Exception | None) -> None:
        self.driver.connection_lost(exc)

    def pause_writing(self) -> None:
        self.driver.pause_writing()

    def resume_writing(self) -> None:
        self.driver.resume_writing()


class StatementLoop(asyncio.SelectorEventLoop):
    """An event loop that counts what goes over unix sockets, and dies."""

    def __init__(self, failpoints: Failpoints) -> None:
        super().__init__()
        self._failpoints = failpoints

    async def create_unix_connection(  # type: ignore[override]
        self, protocol_factory: Callable[[], Any], path: str, **more: Any
    ) -> tuple[asyncio.Transport, Any]:
        _, listener = await super().create_unix_connection(
            lambda: _Listener(protocol_factory(), self._failpoints),
            path,
            **more,
        )
        return listener.wire, listener.driver


def watch_statements(failpoints: Failpoints) -> None:
    """Name what the driver of this process sends; not to be undone."""
    for name in SENDERS:
        sender = getattr(asyncpg.Connection, name)
        setattr(asyncpg.Connection, name, _named(sender, failpoints, name_of))
    copy = asyncpg.Connection.copy_records_to_table
    asyncpg.Connection.copy_records_to_table = _named(
        copy, failpoints, lambda table: f"COPY {table}"
    )
    cursor = asyncpg.Connection.cursor

    @functools.wraps(cursor)
    def named(self: asyncpg.Connection, query: str, *rest: Any, **more: Any):  # type: ignore[no-untyped-def] # noqa: ANN202
        self._transport.statement = name_of(query)
        return cursor(self, query, *rest, **more)

    asyncpg.Connection.cursor = named


def _named(
    sender: Callable[..., Awaitable[Any]],
    failpoints: Failpoints,
    name_it: Callable[[str], str],
) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(sender)
    async def send(
        self: asyncpg.Connection, what: str, *rest: Any, **more: Any
    ) -> Any:
        name = name_it(what)
        self._transport.statement = name
        failpoints.pass_by(f"{name}, before")
        answer = await sender(self, what, *rest, **more)
        failpoints.pass_by(f"{name}, after")
        return answer

    return send
