"""Alertmanager itself takes the alerts, sends them, and resolves them."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from recorder.notification.message import Message, Subject
from recorder.notification.posting import webhooks
from recorder.notification.rules import Rule
from recorder.notification.shapes import CONTENT_TYPES, body_of
from tests.notification.building import a_message, a_rule, an_incident
from tests.notification.receiving import Receiver, receiver
from tests.support.programs import found

CONFIGURATION = """
route:
  {{receiver: hook, group_by: ['...'], group_wait: 0s, group_interval: 1s}}
receivers:
  - name: hook
    webhook_configs: [{{url: '{url}', send_resolved: true}}]
"""


@asynccontextmanager
async def alertmanager(folder: Path, configuration: str) -> AsyncIterator[str]:
    """Run it; yield the address for alerts."""
    (folder / "alertmanager.yml").write_text(configuration)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        found("prometheus-alertmanager"),
        f"--config.file={folder}/alertmanager.yml",
        f"--storage.path={folder}/data",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
        stderr=asyncio.subprocess.DEVNULL,
    )
    base = f"http://127.0.0.1:{port}"
    try:
        async with aiohttp.ClientSession() as session:
            await until_ready(session, base)
        yield f"{base}/api/v2/alerts"
    finally:
        process.kill()
        await process.wait()


async def until_ready(session: aiohttp.ClientSession, base: str) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                async with session.get(f"{base}/-/ready") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.05)


def rule_to(url: str) -> Rule:
    rule = a_rule(shape="alertmanager", more="  labels: {severity: page}\n")
    post = msgspec.structs.replace(rule.post, url=url)
    return msgspec.structs.replace(rule, post=post)


async def post(url: str, message: Message) -> int:
    rule = rule_to(url)
    async with webhooks() as poster:
        answer = await poster.post(
            rule,
            key=message.key,
            body=body_of(message, rule),
            content_type=CONTENT_TYPES[rule.post.shape],
        )
    return answer.status


async def alerts_of(url: str) -> list[dict[str, Any]]:
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        alerts: list[dict[str, Any]] = await answer.json()
        return alerts


def notified(there: Receiver) -> list[dict[str, Any]]:
    return [
        alert
        for one in there.taken
        for alert in one.json["alerts"]  # type: ignore[index]
    ]


def message(now: Subject, was: Subject | None, number: int) -> Message:
    # First sent ten minutes ago, so that it is over when it is over.
    first = datetime.now(UTC) - timedelta(minutes=10)
    made = a_message(now, was, number)
    return msgspec.structs.replace(made, first_at=first)


async def test_an_alert_is_active_until_the_incident_is_over(
    tmp_path: Path,
) -> None:
    began = datetime.now(UTC) - timedelta(minutes=11)
    opened = an_incident(at=began, began_at=began)
    changed = msgspec.structs.replace(opened, cause="gpu-fault")
    over = msgspec.structs.replace(
        changed, over_at=began + timedelta(minutes=3)
    )
    async with (
        receiver() as there,
        alertmanager(tmp_path, CONFIGURATION.format(url=there.url)) as url,
    ):
        assert await post(url, message(opened, None, 1)) == 200
        await there.until(1)
        assert await post(url, message(changed, opened, 2)) == 200
        [active] = await alerts_of(url)
        assert await post(url, message(over, changed, 3)) == 200
        await there.until(2)
        left = await alerts_of(url)

    first, last = notified(there)[0], notified(there)[-1]
    assert active["status"]["state"] == "active"
    assert active["labels"]["severity"] == "page"
    assert active["annotations"]["cause"] == "gpu-fault"
    assert (first["status"], last["status"]) == ("firing", "resolved")
    # One alert all along, by its labels.
    assert first["fingerprint"] == last["fingerprint"]
    assert left == []


async def test_one_that_is_over_when_it_is_sent_is_sent(
    tmp_path: Path,
) -> None:
    """Within the five minutes for which each alert is active."""
    began = datetime.now(UTC) - timedelta(minutes=2)
    over = an_incident(
        at=began, began_at=began, over_at=began + timedelta(minutes=1)
    )
    now = msgspec.structs.replace(a_message(over), first_at=datetime.now(UTC))
    async with (
        receiver() as there,
        alertmanager(tmp_path, CONFIGURATION.format(url=there.url)) as url,
    ):
        assert await post(url, now) == 200
        await there.until(1)

    assert notified(there)[0]["status"] == "firing"
