"""The first hour: from Helm to an answer about a real crash.

The steps of docs/first-hour.md, with the Pod that Helm made: the page,
what happened to a node and which jobs it hit, a report, a message, a query of
a dashboard.
"""

from pathlib import Path

import aiohttp
import pytest
import yaml

from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.demo import train
from tests.cluster.machines import gpu_machines
from tests.cluster.waiting import until
from tests.deploy.chart import CHART
from tests.deploy.pod import Container
from tests.deploy.rootfs import RootFs
from tests.deploy.site import Site, get, probed
from tests.docs.blocks import ROOT, blocks
from tests.notification.receiving import Receiver, receiver

pytestmark = pytest.mark.timeout(300)

NODE = "gpu-002"
COOKBOOK = ROOT / "docs/cookbook.md"


def rules(url: str) -> str:
    """Return the file of rules that posts to a receiver like Slack."""
    post = {"shape": "slack", "url": url}
    rule = {
        "name": "chat",
        "when": {"happened": ["reboot"]},
        "settle": "1s",
        "post": post,
    }
    return yaml.safe_dump({"rules": [rule]})


async def says(pod: Container, *words: str) -> str:
    """Return what a command prints in the Pod, if it can answer."""
    status, out, err = await pod.exec("recorder", *words)
    assert status in {0, 4}, (words, err)
    return out


def recipe(word: str) -> str:
    """Return the query of the cookbook that asks a field with this text."""
    (query,) = [
        block.text
        for block in blocks(COOKBOOK)
        if block.language == "graphql" and word in block.text
    ]
    return query


async def test_an_operator_gets_from_helm_to_answers_about_a_crash(
    tmp_path: Path, rootfs: RootFs
) -> None:
    options = Options(machines=gpu_machines(3, racks=3))
    async with (
        receiver() as chat,
        Cluster.start(tmp_path / "cluster", options) as cluster,
    ):
        await train(cluster)
        site = Site(cluster)
        await site.helm(
            *("install", "recorder", str(CHART), "--namespace", "recorder"),
            *("--create-namespace", "--set", "notify.enabled=true"),
        )
        held = {"recorder-notify": {"notify.yaml": rules(chat.url)}}
        node = await site.node(rootfs, tmp_path / "pods", held)
        recording = site.of("Deployment", "recorder")
        async with node.running(recording) as pod:
            await probed(pod, recording)
            token = await says(pod, "token", "add", "me")
            status, page = await get(pod, "http", "/")
            assert status == 200
            assert "<title>Recorder" in page

            await cluster.machines[NODE].crash()
            await cluster.machines[NODE].boot()
            await cluster.until_ready(NODE)
            await answered(pod, chat, token.strip())
            assert await pod.stop() == 0, pod.said


async def answered(pod: Container, chat: Receiver, token: str) -> None:
    """Ask what the operator asks, by each of the ways."""

    async def is_hit() -> bool:
        # The Job counts its failed Pod after the node is back.
        said = await says(pod, "impact", f"node/{NODE}")
        return "train/llm-pretrain" in said

    await until(is_hit, "the Job is hit", every=0.5)
    why = await says(pod, "why", f"node/{NODE}")
    assert why.startswith(f"{NODE} rebooted at "), why
    report = await says(pod, "postmortem", f"node/{NODE}")
    assert "train/llm-pretrain" in report

    await chat.until(1)
    message = chat.taken[0].body.decode()
    assert f"{NODE} rebooted" in message

    url = f"http://127.0.0.1:{pod.ports['http']}/graphql"
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            url,
            json={"query": recipe("impact(nodes:")},
            headers={"Authorization": f"Bearer {token}"},
        ) as reply,
    ):
        answer = await reply.json()
    (verdict,) = answer["data"]["why"]["verdicts"]
    assert verdict["sentence"] in why
    (hit,) = answer["data"]["impact"]["workloads"]
    assert "train/llm-pretrain" in hit["says"]
