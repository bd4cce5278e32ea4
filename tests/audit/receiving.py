"""A recording that is sent audit records, and those who send them."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from recorder.intake.committing import Policy
from recorder.intake.progress import Received
from recorder.intake.recording import Recording
from recorder.intake.redact import Redaction, RedactionRules
from recorder.intake.state import Batch
from recorder.listening.certificates import Certificates
from recorder.model.entry import Draft, Operation
from recorder.model.observation import AUDIT
from recorder.sources.audit import AuditReceiver, AuditWebhook, serve_senders
from tests.cluster.certificates import Authority, KeyPair
from tests.support.memory_log import MemoryLog, MemoryWriter

__all__ = ["Receiving", "Slow", "a_batch", "a_record", "answered"]

CLUSTER = "381d2c24-6fbe-4e0a-ba04-4371d759055e"
POLICY = Policy(
    linger=timedelta(milliseconds=1),
    idle=timedelta(milliseconds=20),
    retry_min=timedelta(milliseconds=1),
    retry_max=timedelta(milliseconds=2),
)


def a_record(name: str, **more: Any) -> dict[str, Any]:
    """A record as the API server writes it: a user deletes a Pod."""
    return {
        "level": "Metadata",
        "auditID": name,
        "stage": "ResponseComplete",
        "requestURI": f"/api/v1/namespaces/train/pods/{name}",
        "verb": "delete",
        "user": {"username": "alice@example.com"},
        "sourceIPs": ["10.1.2.3"],
        "objectRef": {
            "resource": "pods",
            "namespace": "train",
            "name": name,
            "apiVersion": "v1",
        },
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": "2026-11-21T03:00:00.000001Z",
        "stageTimestamp": "2026-11-21T03:00:00.000002Z",
        **more,
    }


def a_batch(*records: dict[str, Any], kind: str = "EventList") -> bytes:
    return orjson.dumps(
        {
            "kind": kind,
            "apiVersion": "audit.k8s.io/v1",
            "metadata": {},
            "items": records,
        }
    )


class Slow(MemoryWriter):
    """A log that pauses while a test asks for it."""

    def __init__(self, log: MemoryLog, *, holder: str = "writer") -> None:
        super().__init__(log, holder=holder)
        self.goes = asyncio.Event()
        self.goes.set()

    async def append(self, batch: Batch) -> None:
        await self.goes.wait()
        await super().append(batch)


class Receiving:
    """A recorder with an audit webhook, on a log in memory."""

    def __init__(  # noqa: PLR0913 - keywords
        self,
        folder: Path,
        log: MemoryLog,
        *,
        holder: str = "writer",
        is_holder: Callable[[str], bool] | None = None,
        asks_certificate: bool = True,
        requires_certificate: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        commit_seconds: float = 20,
    ) -> None:
        self.authority = Authority(folder / "certificates")
        self.server = self.authority.server()
        self.client = self.authority.client("kube-apiserver")
        self.log = log
        self.writer = Slow(log, holder=holder)
        self.received = Received()
        self.receiver = AuditReceiver(
            repeated_for=timedelta(seconds=80),
            received=self.received,
            now=now,
            commit_seconds=commit_seconds,
        )
        self.webhook = AuditWebhook(
            self.receiver,
            needs_certificate=asks_certificate,
            is_holder=is_holder,
            cluster_uid=CLUSTER,
            received=self.received,
        )
        self.certificates = Certificates(
            certificate=self.server.certificate,
            key=self.server.key,
            client_authority=(
                self.authority.certificate if asks_certificate else None
            ),
            required=requires_certificate,
            of="the audit webhook",
        )
        self.url = ""
        self.stop = asyncio.Event()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        async with serve_senders(
            "127.0.0.1:0",
            self.webhook.routes(),
            certificates=self.certificates,
            received=self.received,
        ) as address:
            self.url = f"https://{address}/audit"
            yield

    @asynccontextmanager
    async def recording(self) -> AsyncIterator[None]:
        """Record while entered, as the process that holds the lease."""
        self.stop = asyncio.Event()
        recording = Recording(
            self.writer,
            Redaction(RedactionRules(), b"0" * 32),
            policy=POLICY,
        )
        async with asyncio.TaskGroup() as group:
            group.create_task(recording.run({AUDIT: self.receiver}, self.stop))
            stream = (AUDIT, "webhook")
            async with asyncio.timeout(20):
                while stream not in self.log.streams:  # noqa: ASYNC110 - the log has no bell
                    await asyncio.sleep(0.001)
            yield
            self.stop.set()

    def records(self) -> list[Draft]:
        return self.log.drafts(Operation.AUDIT)

    def gaps(self) -> list[dict[str, Any]]:
        closed = self.log.drafts(Operation.GAP_CLOSED)
        return [orjson.loads(draft.raw) for draft in closed]

    def trust(self, client: KeyPair | None) -> ssl.SSLContext:
        """Trust the server, and be this client."""
        context = ssl.create_default_context(
            cafile=str(self.authority.certificate)
        )
        if client is not None:
            context.load_cert_chain(client.certificate, client.key)
        return context

    async def send(
        self,
        body: bytes | AsyncIterator[bytes],
        *,
        path: str = "",
        token: str | None = None,
        **headers: str,
    ) -> tuple[int, str, str | None]:
        """Send as the API server; return status, text and Retry-After."""
        connector = aiohttp.TCPConnector(ssl=self.trust(self.client))
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        async with (
            aiohttp.ClientSession(connector=connector) as session,
            session.post(
                self.url + path,
                data=BytesIO(body) if isinstance(body, bytes) else body,
                headers=headers,
            ) as answer,
        ):
            after = answer.headers.get("Retry-After")
            return answer.status, await answer.text(), after


def answered(answers: Sequence[tuple[int, str, str | None]]) -> list[int]:
    return sorted(status for status, _, _ in answers)
