"""Alertmanager itself posts to the door, configured as documented."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import orjson

from tests.claims.test_door import Doorway
from tests.notification.test_alertmanager import alertmanager

PAGE = Path(__file__).parents[2] / "docs/sources.md"
ALERTMANAGER = PAGE.read_text().partition("### Alertmanager\n\n```text\n")[2]
CONFIGURATION = ALERTMANAGER.partition("```")[0]


def configured(address: str, token: Path) -> str:
    """Return the documented configuration for a door without TLS."""
    lines = [
        line for line in CONFIGURATION.splitlines() if "tls_config" not in line
    ]
    return (
        "\n".join(lines)
        .replace("https://recorder.example:9471", address)
        .replace("/etc/alertmanager/recorder-token", str(token))
        .replace("group_wait: 0s", "group_wait: 0s\n  group_interval: 1s")
    )


async def test_an_alert_is_in_the_log_when_it_fires_and_when_it_ends(
    tmp_path: Path,
) -> None:
    one = Doorway(tmp_path)
    secret = one.tokens.add("am", claims=("alertmanager", "alert"))
    token = tmp_path / "token"
    token.write_text(secret)
    began = datetime.now(UTC) - timedelta(minutes=5)
    alert = {
        "labels": {"alertname": "LinkDown", "node": "gpu-1"},
        "startsAt": began.isoformat(),
    }
    async with (
        one.listening(),
        one.recording(),
        alertmanager(tmp_path, configured(one.address, token)) as url,
        aiohttp.ClientSession() as session,
    ):
        await session.post(url, json=[alert])
        await until_claimed(one, 1)
        over = began + timedelta(minutes=1)
        await session.post(url, json=[{**alert, "endsAt": over.isoformat()}])
        await until_claimed(one, 2)

    firing, resolved = one.claims()
    assert firing.occurred_at == began
    assert resolved.occurred_at == over
    assert firing.identity is not None
    assert firing.identity.name == "node/gpu-1"
    assert [
        orjson.loads(claim.raw)["data"]["status"]
        for claim in (firing, resolved)
    ] == ["firing", "resolved"]


async def until_claimed(doorway: Doorway, count: int) -> None:
    async with asyncio.timeout(30):
        while len(doorway.claims()) < count:  # noqa: ASYNC110 - no bell
            await asyncio.sleep(0.05)
