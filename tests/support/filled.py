"""A database that all tests of a session read, filled once."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Any

from tests.conftest import TEMPLATE
from tests.support.postgres import Database, DatabaseServer, fresh_database

__all__ = ["filled_database"]


@contextmanager
def filled_database(
    server: DatabaseServer, fill: Callable[[str], Coroutine[Any, Any, object]]
) -> Iterator[Database]:
    """Yield a database into which ``fill`` has written, by its address."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        fresh = fresh_database(server, TEMPLATE)
        database = runner.run(stack.enter_async_context(fresh))
        runner.run(fill(database.dsn("writer")))
        yield database
        runner.run(stack.aclose())
