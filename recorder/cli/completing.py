"""What a shell offers after Tab: names that the log holds.

A person who waits for a Tab types on, so nothing is started for it: names
come from a server that runs, soon or not at all, and no error is ever shown.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from recorder.cli.given import given_log, read_settings

if TYPE_CHECKING:
    from recorder.answers.ports import Reading
    from recorder.wiring.reading import Logs

PATIENCE_SECONDS = 1.0

Find = Callable[["Reading"], Awaitable[Sequence[str]]]


def racks(
    ctx: click.Context, parameter: click.Parameter, begun: str
) -> Sequence[str]:
    """Return the racks of nodes that begin with a text."""
    del parameter
    from recorder.answers.search import complete_racks

    return _looked_up(ctx, lambda reading: complete_racks(reading, begun))


def places(
    ctx: click.Context, parameter: click.Parameter, begun: str
) -> Sequence[str]:
    """Return the places of nodes that begin with a text."""
    del parameter
    from recorder.answers.search import complete_places

    return _looked_up(ctx, lambda reading: complete_places(reading, begun))


def labels(
    ctx: click.Context, parameter: click.Parameter, begun: str
) -> Sequence[str]:
    """Return labels of nodes, ``LABEL=VALUE``, that begin with a text."""
    del parameter
    from recorder.answers.search import complete_labels

    present = datetime.now(UTC)
    return _looked_up(
        ctx, lambda reading: complete_labels(reading, begun, now=present)
    )


def clusters(
    ctx: click.Context, parameter: click.Parameter, begun: str
) -> Sequence[str]:
    """Return the names of clusters and tapes that begin with a text."""
    del parameter

    async def find(logs: "Logs") -> Sequence[str]:
        names = {log.cluster_name for log in await logs.every()}
        return sorted(name for name in names if name.startswith(begun))

    return _in_time(ctx, find)


def nodes(
    ctx: click.Context, parameter: click.Parameter, begun: str
) -> Sequence[str]:
    """Return the names of nodes that begin with a text."""
    del parameter
    from recorder.answers.search import complete_nodes

    return _looked_up(ctx, lambda reading: complete_nodes(reading, begun))


def objects(
    ctx: click.Context, parameter: click.Parameter, begun: str
) -> Sequence[str]:
    """Return the objects that begin with a text, as kubectl writes them."""
    del parameter
    from recorder.answers.search import complete_objects

    namespace = ctx.params.get("namespace")
    return _looked_up(
        ctx, lambda reading: complete_objects(reading, begun, namespace)
    )


def _looked_up(ctx: click.Context, find: Find) -> Sequence[str]:
    async def read(logs: "Logs") -> Sequence[str]:
        return await find(await logs.read(given_log(ctx)))

    return _in_time(ctx, read)


def _in_time(
    ctx: click.Context, find: Callable[["Logs"], Awaitable[Sequence[str]]]
) -> Sequence[str]:
    import asyncio  # options are shown without it

    async def answer() -> Sequence[str]:
        from recorder.wiring.reading import answers_now, open_logs

        settings = read_settings(ctx)
        if not answers_now(settings):
            return []
        async with (
            asyncio.timeout(PATIENCE_SECONDS),
            open_logs(settings) as logs,
        ):
            return await find(logs)

    try:
        return asyncio.run(answer())
    except Exception:  # noqa: BLE001 - a shell has no place for an error
        return []
