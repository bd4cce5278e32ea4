"""What a real API server sends to the audit webhook, with kills meanwhile."""

import asyncio
import re
import ssl
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson
import pytest

from recorder.keeping.tokens import TokenFile
from recorder.model.entry import Draft, Operation
from tests.claims.posting import an_event, post
from tests.cluster.certificates import kubeconfig
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.front import front
from tests.cluster.waiting import until
from tests.recording.test_audit import POLICY, records
from tests.support.postgres import Database, connected
from tests.support.recorded import Recorded, gap_reasons

COUNTERS_RBAC = Path(__file__).parents[2] / "deploy/audit-rbac.yaml"

pytestmark = pytest.mark.timeout(240)


async def served(
    cluster: Cluster, folder: Path, *, backoff: str = "4s"
) -> Mapping[str, str]:
    """Have the API server send its records; return a recorder's settings.

    They are repeated for half a minute, longer than a recorder takes to start.
    """
    authority = cluster.authority
    server = authority.server()
    port = cluster.ports.take()
    path = kubeconfig(
        folder / "webhook",
        server=f"https://127.0.0.1:{port}/audit",
        authority=authority.certificate,
        user=authority.client("kube-apiserver-audit"),
    )
    await cluster.api_server.restart(
        audit_webhook_config_file=str(path),
        audit_webhook_batch_max_wait="200ms",
        audit_webhook_initial_backoff=backoff,
    )
    return {
        "audit_listen": f"127.0.0.1:{port}",
        "audit_certificate": str(server.certificate),
        "audit_key": str(server.key),
        "audit_client_ca": str(authority.certificate),
    }


def held(drafts: Iterable[Draft]) -> Counter[tuple[str, str]]:
    """Count audit records by ID and stage."""
    return Counter(
        (said["auditID"], said["stage"])
        for draft in drafts
        if draft.operation is Operation.AUDIT
        for said in [orjson.loads(draft.raw)]
    )


async def until_held(
    recorded: Recorded, written: Sequence[tuple[str, str]]
) -> None:
    def arrived(drafts: Sequence[Draft]) -> bool:
        return len(drafts) >= len(written) and set(written) <= set(
            held(drafts)
        )

    await recorded.until_entries(arrived, "all records are in the log")


async def states_of(database: Database) -> dict[str, str]:
    """Return the states of the streams of audit, by their names."""
    async with connected(database.dsn("reader")) as connection:
        rows = await connection.fetch("""
            select r.name, p.state from recorder.resume_point p
            join recorder.resource r using (resource_id)
            where p.source = 'audit'
        """)
    return {row["name"]: row["state"] for row in rows}


async def write(cluster: Cluster, name: str, count: int) -> None:
    """Make objects, and change each."""
    for number in range(count):
        path = "/api/v1/namespaces/default/configmaps"
        await cluster.api.create(
            path,
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": f"{name}-{number}"},
            },
        )
        await cluster.api.delete(f"{path}/{name}-{number}")


async def test_each_record_is_there_once_whichever_way_it_came(
    tmp_path: Path, database: Database
) -> None:
    """By the file and by the webhook, while both sides are killed."""
    options = Options(
        audit_policy=POLICY, controller_manager=False, scheduler=False
    )
    async with Cluster.start(tmp_path / "cluster", options) as cluster:
        settings = await served(cluster, tmp_path)
        recorded = Recorded(cluster, database, tmp_path)
        await recorded.grant()
        both = {**settings, "audit_logs": str(cluster.audit_log)}
        # First by the webhook alone, so that the file is late.
        await recorded.start(**settings)
        await recorded.until_listed()
        await write(cluster, "first", 100)
        await recorded.kill()
        await recorded.start(**both)
        async with asyncio.TaskGroup() as group:
            for name in ("a", "b", "c", "d"):
                group.create_task(write(cluster, name, 200))
            await asyncio.sleep(1)
            await recorded.kill()
            await recorded.start(**both)
        await cluster.api_server.kill()
        await cluster.api_server.start()
        await write(cluster, "last", 100)
        written = records(cluster.audit_log)

        await until_held(recorded, written)
        await recorded.settle(3)
        log = await recorded.log()
        states = await states_of(database)
        await recorded.stop()

    assert states.pop(str(cluster.audit_log)) == "live"
    assert states.pop("counters") == "backing-off"  # no user may read them
    assert set(states.values()) == {"live"}
    assert "webhook" in states
    assert len(set(written)) == len(written) > 2000
    found = held(draft for _, draft in log.entries)
    assert set(found.values()) == {1}
    assert set(found) <= set(records(cluster.audit_log))


ADDRESSES = {"192.0.2.1": "127.0.0.1", "192.0.2.2": "127.0.0.2"}
"""Of two API servers, as they advertise them, and where they listen."""


async def both_listed(cluster: Cluster) -> None:
    """Wait until the API servers have listed both of themselves."""

    path = (
        "/apis/discovery.k8s.io/v1/namespaces/default"
        "/endpointslices/kubernetes"
    )

    async def listed() -> bool:
        if not await cluster.api.answers(path):
            return False
        said = await cluster.api.get(path)
        endpoints = said.get("endpoints") or ()
        return {one["addresses"][0] for one in endpoints} == set(ADDRESSES)

    await until(listed, "both API servers are listed", seconds=60)


async def until_dropped(cluster: Cluster, *words: str) -> None:
    """Wait until an API server has counted records that it dropped."""

    async def dropped() -> bool:
        said = await cluster.kubectl(*words, "get", "--raw", "/metrics")
        return "apiserver_audit_error_total{" in said

    await until(dropped, "the API server drops records", seconds=60)


def webhook_gaps(drafts: Iterable[Draft]) -> list[Mapping[str, Any]]:
    """Return the gaps of the webhook that are over."""
    return [
        orjson.loads(draft.raw)
        for draft in drafts
        if draft.operation is Operation.GAP_CLOSED
        and draft.resource == "webhook"
    ]


async def until_proved(recorded: Recorded, count: int) -> Mapping[str, Any]:
    """Wait for that many gaps of the webhook; return the last."""
    found: list[Mapping[str, Any]] = []

    def is_recorded(drafts: Sequence[Draft]) -> bool:
        found[:] = webhook_gaps(drafts)
        return len(found) == count

    await recorded.until_entries(is_recorded, "what was lost is in the log")
    return found[-1]


async def test_what_each_of_two_api_servers_dropped_is_a_gap(
    tmp_path: Path, database: Database
) -> None:
    """They count that themselves; one that is not reached leaves its share."""
    options = Options(
        audit_policy=POLICY,
        controller_manager=False,
        scheduler=False,
        api_server_flags={
            "advertise-address": "192.0.2.1",
            "endpoint-reconciler-type": "lease",
        },
    )
    async with (
        front(ADDRESSES) as proxy,
        Cluster.start(tmp_path / "cluster", options) as cluster,
        AsyncExitStack() as stack,
    ):
        settings = await served(cluster, tmp_path, backoff="100ms")
        other = cluster.another_api_server(
            "127.0.0.2", advertise_address="192.0.2.2", audit_log_path=None
        )
        stack.callback(other.kill_now)
        await other.start()
        await both_listed(cluster)
        port = urlsplit(cluster.server).port
        at_other = [
            f"--server=https://127.0.0.2:{port}",
            "--tls-server-name=127.0.0.1",
        ]
        recorded = Recorded(cluster, database, tmp_path)
        await recorded.grant()
        document = orjson.loads(recorded.kubeconfig.read_bytes())
        document["clusters"][0]["cluster"]["proxy-url"] = proxy.url
        recorded.kubeconfig.write_bytes(orjson.dumps(document))
        await cluster.kubectl("apply", "-f", str(COUNTERS_RBAC))
        await recorded.start(**settings)

        async def counted() -> bool:
            return (await states_of(database)).get("counters") == "live"

        await until(counted, "the counters were read", seconds=30)
        await recorded.kill()
        before = datetime.now(UTC)
        await write(cluster, "unseen", 50)
        await cluster.kubectl(*at_other, "create", "namespace", "unseen")
        await until_dropped(cluster)
        await until_dropped(cluster, *at_other)
        await recorded.start(**settings, audit_repeated_for="1s")
        both = await until_proved(recorded, 1)

        def is_recorded(drafts: Sequence[Draft]) -> bool:
            lost = [of for of, _ in gap_reasons(drafts)]
            return lost.count("counters") == 2

        await recorded.until_entries(
            is_recorded, "what they counted is in the log"
        )
        log = await recorded.log()
        await recorded.kill()
        proxy.cut.add("192.0.2.2")
        await asyncio.sleep(1.5)  # longer than they repeat
        await recorded.start(**settings, audit_repeated_for="1s")
        one = await until_proved(recorded, 2)
        await recorded.stop()

    (most,) = both["possible"]
    assert re.fullmatch("at most [1-9][0-9]* audit records", most)
    assert "192.0.2.1" in both["proved"]
    assert "192.0.2.2" in both["proved"]
    gaps = [
        orjson.loads(draft.raw)
        for _, draft in log.entries
        if draft.operation is Operation.GAP_CLOSED
        and draft.resource == "counters"
    ]
    for gap in gaps:
        assert "of its webhook" in gap["reason"]
        assert datetime.fromisoformat(gap["from"]) <= before
        assert before <= datetime.fromisoformat(gap["to"])
        assert gap["possible"]
    assert {gap["reason"].split(":")[0] for gap in gaps} == {
        f"the API server {address}" for address in ADDRESSES
    }
    (rest,) = one["possible"]
    assert f"audit records of the API server 192.0.2.2:{port}" in rest
    assert "192.0.2.1" not in rest


async def claim(
    cluster: Cluster, settings: Mapping[str, str], token: str, count: int
) -> None:
    """Post events one after another, each until it is accepted."""
    authority = cluster.authority
    pair = authority.client("pdu")
    context = ssl.create_default_context(cafile=str(authority.certificate))
    context.load_cert_chain(pair.certificate, pair.key)
    address = f"https://{settings['audit_listen']}"
    connector = aiohttp.TCPConnector(ssl=context)
    async with aiohttp.ClientSession(connector=connector) as session:
        for number in range(count):

            async def accepted(event: int = number) -> bool:
                try:
                    status, says = await post(
                        session, address, token, an_event(event)
                    )
                except (aiohttp.ClientError, OSError):
                    return False
                assert status in {202, 503}, says
                return status == 202

            await until(accepted, "the event is accepted", seconds=60)


async def test_every_record_of_the_file_came_by_the_webhook_too(
    tmp_path: Path, database: Database
) -> None:
    """The recorder is killed while the API server and another sender send."""
    options = Options(
        audit_policy=POLICY, controller_manager=False, scheduler=False
    )
    async with Cluster.start(tmp_path / "cluster", options) as cluster:
        tokens = TokenFile(tmp_path / "senders")
        token = tokens.add("pdu", claims=("pdu/*", "machine.*"))
        settings = {
            **await served(cluster, tmp_path),
            "ingest_token_file": str(tmp_path / "senders"),
        }
        recorded = Recorded(cluster, database, tmp_path)
        await recorded.grant()
        await recorded.start(**settings)
        await recorded.until_listed()
        began = len(records(cluster.audit_log))
        async with asyncio.TaskGroup() as group:
            group.create_task(write(cluster, "busy", 400))
            group.create_task(claim(cluster, settings, token, 60))
            await asyncio.sleep(1)
            await recorded.kill()
            await recorded.start(**settings)
        written = records(cluster.audit_log)[began:]

        await until_held(recorded, written)
        reasons = await recorded.gap_reasons()
        claims = [
            orjson.loads(draft.raw)["id"]
            for _, draft in (await recorded.log()).entries
            if draft.operation is Operation.CLOUDEVENT
        ]
        await recorded.stop()

    assert claims == [str(number) for number in range(60)]
    assert len(written) >= 800
    assert not [reason for of, reason in reasons if of == "webhook"]
