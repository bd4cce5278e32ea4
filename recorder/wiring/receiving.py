"""The server of senders, put together from its settings.

It has the audit webhook and the door of claims.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.routing import Route

from recorder.explain.knowledge import load
from recorder.intake.ports import Source
from recorder.intake.progress import ClaimCounts, Received
from recorder.keeping.tokens import TokenFile
from recorder.listening.certificates import Certificates
from recorder.model.errors import ConfigError
from recorder.model.observation import SLURM
from recorder.model.settings import Settings
from recorder.sources.audit import (
    AuditCounters,
    AuditReceiver,
    AuditTail,
    AuditWebhook,
    Several,
    serve_senders,
)
from recorder.sources.claims import (
    CLAIMS_PATH,
    ClaimDoor,
    read_mappings,
    slurm_converter,
)
from recorder.sources.slurm import read_node_mapping
from recorder.sources.watch.api_servers import AskedServers
from recorder.sources.watch.client import ClusterClient
from recorder.wiring.live import LiveRecording


@asynccontextmanager
async def senders_served(
    settings: Settings, live: LiveRecording
) -> AsyncIterator[str]:
    """Receive audit records and claims while entered, at an address.

    Each has senders of its own: without any, it is not served. Yields the
    address in use, empty where there is none.

    Raises:
        ConfigError: a setting is missing, or what it names cannot be used.
    """
    if not settings.audit_listen:
        yield ""
        return
    assert live.identity is not None, "the cluster has been asked"
    if settings.audit_certificate is None or settings.audit_key is None:
        msg = "audit_listen needs audit_certificate and audit_key"
        raise ConfigError(msg)
    received = live.progress.received = Received()
    routes: list[Route] = []
    path = CLAIMS_PATH
    if settings.ingest_token_file is not None:
        senders = TokenFile(settings.ingest_token_file)
        senders.tokens()
        live.progress.claims = ClaimCounts()
        live.slurm_nodes.configure(
            read_node_mapping(settings.slurm_nodes),
            same_names=settings.slurm_same_names,
        )
        live.claims = ClaimDoor(
            senders.sender,
            counts=live.progress.claims,
            mappings={
                **read_mappings(settings.ingest_mappings),
                SLURM: slurm_converter(
                    live.slurm_nodes.of, settings.slurm_cluster
                ),
            },
            misfit=load(settings.knowledge).misfit,
        )
        routes += live.claims.routes()
    if not routes or settings.audit_token_file or settings.audit_client_ca:
        routes += _audit_webhook(settings, live, received).routes()
        path = f"/audit/{live.identity.uid}"
    certificates = Certificates(
        certificate=settings.audit_certificate,
        key=settings.audit_key,
        client_authority=settings.audit_client_ca,
        required=live.claims is None,
        of="the audit webhook",
    )
    async with serve_senders(
        settings.audit_listen,
        routes,
        certificates=certificates,
        received=received,
    ) as address:
        yield f"https://{address}{path}"


def _audit_webhook(
    settings: Settings, live: LiveRecording, received: Received
) -> AuditWebhook:
    assert live.identity is not None, "the cluster has been asked"
    is_holder = None
    if settings.audit_token_file is not None:
        tokens = TokenFile(settings.audit_token_file)
        tokens.tokens()

        def is_holder(presented: str) -> bool:
            return tokens.holder(presented) is not None

    live.receiver = AuditReceiver(
        repeated_for=settings.audit_repeated_for, received=received
    )
    return AuditWebhook(
        live.receiver,
        needs_certificate=settings.audit_client_ca is not None,
        is_holder=is_holder,
        cluster_uid=live.identity.uid,
        received=received,
    )


def audit_source(
    settings: Settings, live: LiveRecording, client: ClusterClient
) -> Source | None:
    """Return the source of audit records; None where none are wanted.

    Where some are, the counters of the API servers are read as well.
    """
    received = live.progress.received or Received()
    sources: list[Source] = []
    if settings.audit_logs:
        paths = [Path(path) for path in settings.audit_logs]
        sources.append(AuditTail(paths, unread=received.unread))
    if live.receiver is not None:
        sources.append(live.receiver)
    if not sources:
        return None
    live.progress.received = received
    counters = AuditCounters(AskedServers(client), received=received)
    if live.receiver is not None:
        live.receiver.proof = counters.proof
    return Several([*sources, counters])
