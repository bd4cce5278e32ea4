"""Asking one of several API servers at its own address."""

import json
from pathlib import Path

import pytest

from recorder.sources.watch.api_servers import AskedServers
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import CertificateError
from tests.cluster.certificates import kubeconfig


async def test_no_token_goes_to_an_unverified_address(
    tmp_path: Path,
) -> None:
    """Who may write the EndpointSlice could have it otherwise."""
    path = kubeconfig(
        tmp_path / "kubeconfig",
        server="https://127.0.0.1:1",
        authority=tmp_path / "none",
        user="secret",
    )
    document = json.loads(path.read_text())
    cluster = document["clusters"][0]["cluster"]
    del cluster["certificate-authority"]
    cluster["insecure-skip-tls-verify"] = True
    path.write_text(json.dumps(document))
    client = ClusterClient.from_kubeconfig(str(path))
    servers = AskedServers(client)

    with pytest.raises(CertificateError, match=r"192\.0\.2\.1:6443.*verified"):
        async for _ in servers.metrics("192.0.2.1:6443"):
            pass
    await client.close()
