"""Senders of claims, and a process that takes them."""

import asyncio
import sys
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from starlette.routing import Router

from recorder.intake.progress import ClaimCounts
from recorder.intake.recording import Recording
from recorder.intake.redact import Redaction, RedactionRules
from recorder.keeping.tokens import TokenFile
from recorder.listening import Bounds, bound_socket, listening
from recorder.model.errors import (
    LogUnavailableError,
    StandingByError,
    UnknownStateError,
)
from recorder.model.observation import CLOUDEVENTS
from recorder.sources.claims import CLAIMS_PATH, ClaimDoor
from recorder.store.writer import LogSpec, Writer

__all__ = ["BOUNDS", "an_event", "post"]

BOUNDS = Bounds(
    connections=64, strangers=48, strangers_of_a_peer=48, idle_seconds=60
)
SPEC = LogSpec(
    cluster_name="claims",
    cluster_uid="claims",
    kubernetes="v1.36.3",
    redaction_key_id=None,
)
CAUSES = (StandingByError, LogUnavailableError, UnknownStateError)
"""After which the process that records tries again."""


def an_event(number: int, **more: Any) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": str(number),
        "source": "pdu/b3",
        "type": "machine.power",
        "subject": "node/gpu-1",
        "time": "2026-11-26T03:00:00Z",
        "data": {"power": "off"},
        **more,
    }


async def post(
    session: aiohttp.ClientSession,
    address: str,
    token: str,
    event: dict[str, Any] | list[dict[str, Any]],
) -> tuple[int, str]:
    """Post an event, or a batch; return the status and what it says."""
    media = "cloudevents-batch" if isinstance(event, list) else "cloudevents"
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": f"application/{media}+json",
    }
    async with session.post(
        f"{address}{CLAIMS_PATH}",
        data=BytesIO(orjson.dumps(event)),
        headers=headers,
    ) as answer:
        return answer.status, await answer.text()


async def _record(dsn: str, tokens: str, port: int) -> None:
    """Record claims until killed."""
    door = ClaimDoor(TokenFile(Path(tokens)).sender, counts=ClaimCounts())
    bound = bound_socket(f"127.0.0.1:{port}", setting="audit_listen")
    async with listening(Router(door.routes()), bound, BOUNDS):
        while True:
            recording = Recording(
                Writer(dsn, SPEC, holder="claims"),
                Redaction(RedactionRules(), b"0" * 32),
            )
            with suppress(*CAUSES):
                await recording.run({CLOUDEVENTS: door}, asyncio.Event())
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    asyncio.run(_record(sys.argv[1], sys.argv[2], int(sys.argv[3])))
