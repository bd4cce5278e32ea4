"""The served API, put together and started."""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from api.access import Guard, LocalGuard, Tokens
from api.app import Served
from api.ports import Logs as PortOfLogs
from api.ports import Reads
from api.resolvers.proxying import ProxyGuard
from api.resolvers.reviewing import ClusterGuard, Reviewing
from api.serving import Opening, listening
from recorder.explain.knowledge import load
from recorder.keeping.collector import prompt_collector
from recorder.keeping.registry import RegistryFile, serves_registry
from recorder.keeping.tokens import TokenFile
from recorder.listening.certificates import Certificates
from recorder.model.errors import ConfigError, RecorderError
from recorder.model.settings import Settings
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.reviews import KubernetesReviews
from recorder.store.translate import SchemaError
from recorder.wiring.addresses import announced
from recorder.wiring.places import Place, places_of, watched
from recorder.wiring.reading import open_logs
from recorder.wiring.reads import recorded_reads, routed_reads
from recorder.wiring.routing import RoutedLogs
from recorder.wiring.waiting import opened

log = logging.getLogger("recorder.api")

HEADERS = 2


@asynccontextmanager
async def serving(
    settings: Settings,
    stop: asyncio.Event,
    *,
    listen: str | None = None,
    any_port: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> AsyncIterator[str]:
    """Serve the logs of the settings while entered; yield the address.

    With a registry and no cluster named these are the logs of all its
    databases; one that is away then hinders nothing.

    Probes are answered from the first moment; questions once there is a
    database with the right schema. A stop ends subscriptions, so that
    leaving takes no time.

    Args:
        settings: which database, and where to listen.
        stop: set when the end is wanted.
        listen: instead of the address of the settings.
        any_port: whether another port is used if this one is taken.
        say: gets a line about what is waited for.

    Raises:
        ConfigError: the address, the tokens or the access is invalid.
        NotFoundError: nothing was ever recorded.
    """
    if listen is not None:
        settings = replace(settings, serve_listen=listen)
    knowledge = load(settings.knowledge)
    prompt_collector()
    async with (
        # The logs are left once no question is being answered.
        AsyncExitStack() as asked,
        _guard(settings) as guard,
        listening(
            settings.serve_listen,
            any_port=any_port,
            guarded=guard is not None,
            tls=_tls(settings),
        ) as (address, opening),
    ):
        logs, reads = await _opened(settings, asked, stop, opening, say)
        if logs is not None:
            served = Served(
                logs,
                knowledge,
                guard or LocalGuard(),
                stop=stop,
                links=settings.links,
                reads=reads,
            )
            await asked.enter_async_context(served.running())
            app = served.app(
                only_loopback_names=guard is None,
                graphiql=settings.serve_graphiql,
            )
            opening.open(app)
        with announced(settings, address, opening.instance):
            try:
                yield address
            finally:
                stop.set()


async def _opened(
    settings: Settings,
    asked: AsyncExitStack,
    stop: asyncio.Event,
    opening: Opening,
    say: Callable[[str], None],
) -> tuple[PortOfLogs | None, Reads | None]:
    """Open the logs, and what records reads: of a registry, of each database.

    No logs: a stop came first.
    """
    if serves_registry(settings) and settings.clusters_file is not None:
        file = RegistryFile(settings.clusters_file)
        places = places_of(settings, file.read())

        def changed() -> list[Place] | None:
            registry = file.changed()
            if registry is None:
                return None
            return places_of(settings, registry, places)

        await asked.enter_async_context(watched(places, stop, changed))
        logs = RoutedLogs(settings, places)
        asked.push_async_callback(logs.close)
        reads = await asked.enter_async_context(routed_reads(places, stop))
        return logs, reads
    one = await opened(
        lambda: open_logs(settings),
        asked,
        stop,
        settings=settings,
        waits=lambda exc: _wait(opening, exc),
        say=say,
    )
    if one is None:
        return None, None
    recorded = recorded_reads(settings, one.writer_dsn, stop)
    return one, await asked.enter_async_context(recorded)


@asynccontextmanager
async def _guard(settings: Settings) -> AsyncIterator[Guard | None]:
    """Yield what decides who has access; None if every client has."""
    static = None
    if settings.token_file is not None:
        tokens = TokenFile(settings.token_file)
        if settings.token_file.parent == settings.data_dir:
            tokens.make()
        # A file that cannot be read is reported at once.
        tokens.tokens()
        static = Tokens(tokens)
    if not settings.serve_kubernetes:
        yield _proxied(settings, static, None)
        return
    client = ClusterClient.from_kubeconfig(
        settings.kubeconfig, settings.context
    )
    try:
        reviews = KubernetesReviews(client, settings.serve_audiences)
        reviewing = Reviewing(reviews)
        guard = ClusterGuard(reviewing, static)
        yield _proxied(settings, guard, reviewing)
    finally:
        await client.close()


def _proxied(
    settings: Settings, guard: Guard | None, reviewing: Reviewing | None
) -> Guard | None:
    """Return a guard that also accepts users named by a proxy, if set."""
    if settings.serve_proxy_ca is None:
        return guard
    headers = settings.serve_proxy_headers
    if settings.serve_certificate is None or len(headers) != HEADERS:
        msg = (
            "serve_proxy_ca needs serve_certificate and serve_key, and two"
            " serve_proxy_headers: of the user, and of the groups"
        )
        raise ConfigError(msg)
    return ProxyGuard(
        guard, reviewing, headers=headers, names=settings.serve_proxy_names
    )


def _tls(settings: Settings) -> ssl.SSLContext | None:
    """Return the context of TLS for the API; None for plain HTTP.

    Raises:
        ConfigError: a file is not set, or cannot be used.
    """
    certificate, key = settings.serve_certificate, settings.serve_key
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        msg = "serve_certificate and serve_key need each other"
        raise ConfigError(msg)
    certificates = Certificates(
        certificate=certificate,
        key=key,
        client_authority=settings.serve_proxy_ca,
        required=False,
        of="the API",
    )
    warned: list[str | None] = [None]

    def warn(why: str | None) -> None:
        # Once for each reason, not with each connection.
        if why != warned[0] and why is not None:
            log.warning("%s", why)
        warned[0] = why

    return certificates.context(warn)


def _wait(opening: Opening, exc: RecorderError) -> None:
    """Publish what is waited for, without its address."""
    known = isinstance(exc, SchemaError)
    opening.waiting_for = (
        str(exc) if known else "the database does not respond"
    )
