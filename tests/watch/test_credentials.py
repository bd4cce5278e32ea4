"""Tokens and certificates that rotate while we watch.

Exec plugins run as real programs, TLS with certificates made on the spot.
"""

import asyncio
import json
import ssl
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiohttp import web

from recorder.model.observation import RequestFailed
from recorder.sources.watch import ClusterClient
from recorder.sources.watch.errors import CertificateError, UnauthorizedError
from tests.support.fake_cluster import FakeCluster
from tests.watch.watching import FAST, PODS, Memory, make_client, recording


def _set_user(path: Path, user: dict[str, Any]) -> None:
    config = json.loads(path.read_text())
    config["users"][0]["user"] = user
    path.write_text(json.dumps(config))


async def test_a_refused_token_is_read_again(tmp_path: Path) -> None:
    memory = Memory()
    async with FakeCluster() as fake:
        fake.token = "first"
        async with recording(fake, tmp_path, memory):
            await memory.until(lambda: fake.watching("pods"))
            fake.token = "second"
            fake.cut()
            await memory.until(lambda: memory.of(RequestFailed, PODS))
            fake.kubeconfig(tmp_path, token="second")
            fake.put("pods", "a")
            await memory.until(lambda: memory.frames(PODS))

    assert memory.of(RequestFailed, PODS)[0].status == 401


async def test_a_token_file_is_read_again(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first\n")
    async with FakeCluster() as fake:
        client = make_client(fake, tmp_path)
        _set_user(tmp_path / "kubeconfig", {"tokenFile": str(token)})
        fake.token = "first"
        await client.uid()
        token.write_text("second\n")
        fake.token = "second"
        await _until_accepted(client)
        await client.close()


def _plugin(folder: Path) -> Path:
    """Write a program that prints the next token each time it runs."""
    counter = folder / "runs"
    counter.write_text("0")
    program = folder / "plugin"
    program.write_text(
        "#!/bin/sh\n"
        f"n=$(($(cat {counter}) + 1)); echo $n > {counter}\n"
        'echo "{\\"apiVersion\\": \\"client.authentication.k8s.io/v1\\",'
        ' \\"kind\\": \\"ExecCredential\\",'
        ' \\"status\\": {\\"token\\": \\"token-$n\\",'
        ' \\"expirationTimestamp\\": \\"2999-01-01T00:00:00Z\\"}}"\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    return program


async def test_a_plugin_runs_only_when_its_token_is_refused(
    tmp_path: Path,
) -> None:
    exec_ = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": str(_plugin(tmp_path)),
    }
    runs = tmp_path / "runs"
    async with FakeCluster() as fake:
        client = make_client(fake, tmp_path)
        _set_user(tmp_path / "kubeconfig", {"exec": exec_})
        fake.token = "token-1"
        for _ in range(5):
            await client.uid()
            await asyncio.sleep(0.02)
        assert runs.read_text().strip() == "1"

        fake.token = "token-2"
        await _until_accepted(client)
        assert runs.read_text().strip() == "2"
        await client.close()


async def test_a_broken_plugin_names_the_cluster(tmp_path: Path) -> None:
    exec_ = {"apiVersion": "v1", "command": "false"}
    async with FakeCluster() as fake:
        client = make_client(fake, tmp_path)
        await client.uid()
        _set_user(tmp_path / "kubeconfig", {"exec": exec_})
        await asyncio.sleep(FAST.credentials_age)
        with pytest.raises(UnauthorizedError, match="exec: process returned"):
            await client.uid()
        await client.close()


async def _until_accepted(client: ClusterClient) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                await client.uid()
            except (UnauthorizedError, CertificateError):
                await asyncio.sleep(0.02)
            else:
                return


@asynccontextmanager
async def _over_tls(
    authority: trustme.CA, port: int = 0
) -> AsyncIterator[int]:
    """Serve the identity of a cluster under a certificate of an authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)

    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"metadata": {"uid": "u"}})

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.01)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, ssl_context=context)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _tls_client(folder: Path, port: int, authority: Path) -> ClusterClient:
    cluster = {
        "server": f"https://127.0.0.1:{port}",
        "certificate-authority": str(authority),
    }
    config = {
        "current-context": "tls",
        "clusters": [{"name": "tls", "cluster": cluster}],
        "users": [{"name": "tls", "user": {"token": "t"}}],
        "contexts": [
            {"name": "tls", "context": {"cluster": "tls", "user": "tls"}}
        ],
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return ClusterClient.from_kubeconfig(str(path), settings=FAST)


async def test_an_unknown_authority_is_said_so(tmp_path: Path) -> None:
    authority = tmp_path / "ca.crt"
    trustme.CA().cert_pem.write_to_path(str(authority))
    async with _over_tls(trustme.CA()) as port:
        client = _tls_client(tmp_path, port, authority)
        with pytest.raises(CertificateError) as caught:
            await client.uid()
        await client.close()

    assert 'cluster "tls": the certificate was not accepted' in str(
        caught.value
    )


async def test_a_rotated_authority_is_read_again(tmp_path: Path) -> None:
    old, new = trustme.CA(), trustme.CA()
    authority = tmp_path / "ca.crt"
    old.cert_pem.write_to_path(str(authority))
    async with _over_tls(old) as port:
        client = _tls_client(tmp_path, port, authority)
        await client.uid()
    async with _over_tls(new, port):
        new.cert_pem.write_to_path(str(authority))
        await _until_accepted(client)
        await client.close()
