"""Which cluster answers."""

import asyncio
from pathlib import Path

import pytest

from recorder.sources.watch import ClusterClient
from recorder.sources.watch.errors import (
    ForbiddenError,
    KubeconfigError,
    UnreachableError,
    WrongClusterError,
)
from tests.support.fake_cluster import Failure, FakeCluster
from tests.watch.watching import PODS, Memory, make_client, recording


async def test_identity_is_name_uid_and_version(tmp_path: Path) -> None:
    async with FakeCluster() as fake:
        client = make_client(fake, tmp_path)
        identity = await client.identity()
        await client.close()

    assert identity.name == "fake"
    assert identity.uid == fake.uid
    assert identity.server_version == "v1.36.3-fake"


async def test_another_cluster_behind_the_address_ends_the_source(
    tmp_path: Path,
) -> None:
    memory = Memory()
    async with FakeCluster() as fake:

        async def record() -> None:
            async with recording(fake, tmp_path, memory):
                await memory.until(lambda: fake.watching("pods"))
                fake.uid = "another"
                fake.cut()
                fake.put("pods", "foreign")
                await asyncio.Event().wait()

        with pytest.raises(ExceptionGroup) as caught:
            await record()

    (error,) = caught.value.exceptions
    assert isinstance(error, WrongClusterError)
    assert str(error) == (
        'another cluster answers behind "fake":'
        " expected UID fake-cluster-uid, got another"
    )
    assert not memory.frames(PODS)


async def test_no_answer_names_the_cluster(tmp_path: Path) -> None:
    async with FakeCluster() as fake:
        client = make_client(fake, tmp_path)
        await fake.down()
        with pytest.raises(UnreachableError) as caught:
            await client.identity()
        await client.close()

    assert str(caught.value).startswith(
        'cannot get v1/namespaces/kube-system of cluster "fake": '
    )


async def test_a_missing_right_is_named(tmp_path: Path) -> None:
    async with FakeCluster() as fake:
        fake.failures.append(Failure(403, verb="get"))
        client = make_client(fake, tmp_path)
        with pytest.raises(ForbiddenError, match="namespaces/kube-system"):
            await client.identity()
        await client.close()


def test_no_kubeconfig_is_said_so(tmp_path: Path) -> None:
    path = str(tmp_path / "absent")
    with pytest.raises(KubeconfigError, match="does not exist"):
        ClusterClient.from_kubeconfig(path)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "clusters: 7", '{"current-context": "x"}']
)
async def test_a_broken_kubeconfig_is_said_so(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    client = ClusterClient.from_kubeconfig(str(path))
    with pytest.raises(KubeconfigError, match="cannot be used"):
        await client.identity()
    await client.close()
