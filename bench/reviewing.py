"""The cost of access decisions by the API server of a cluster.

One server gets the same queries from three readers in turns: with a static
token, and with tokens of the cluster, by one who may get everything and by one
who may get what is in one namespace. The reviews are cached, as they nearly
always are; the time of the first response is measured separately.
"""

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import aiohttp

from api.resolvers.reviewing import ClusterGuard, Reviewing
from bench.measuring import Number, say, server_folder
from recorder.keeping.tokens import TokenFile
from recorder.model.access import Right
from recorder.model.settings import Settings
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.reviews import KubernetesReviews
from recorder.store.writer import LogSpec
from recorder.wiring.database import open_database
from recorder.wiring.serving import serving
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.support.fixed_log import STORY, write_log

__all__ = ["bench"]

ASKED = 100
"""Times that each reader asks in a run."""

QUERY = {"query": "{ entries(last: 100) { nodes { says object { name } } } }"}
NAMESPACE = "default"
RUN_IN = "train"
"""The namespace of the Pods of the story."""

GRANTS = (
    ("namespace", RUN_IN),
    ("clusterrole", "everything", "--verb=get", "--resource=*.*"),
    (
        "clusterrolebinding",
        "fleet",
        "--clusterrole=everything",
        f"--serviceaccount={NAMESPACE}:fleet",
    ),
    (
        "rolebinding",
        "tenant",
        "--clusterrole=everything",
        f"--serviceaccount={NAMESPACE}:tenant",
        f"--namespace={RUN_IN}",
    ),
)


def bench(runs: int) -> list[Number]:
    with server_folder() as data, server_folder() as folder:
        return asyncio.run(_measured(data, folder, runs))


async def _measured(data: Path, folder: Path, runs: int) -> list[Number]:
    options = Options(
        controller_manager=False, scheduler=False, json_storage=False
    )
    settings = Settings(
        data_dir=data,
        token_file=data / "tokens",
        serve_listen="127.0.0.1:0",
        serve_kubernetes=True,
    )
    async with (
        Cluster.start(folder / "cluster", options) as cluster,
        open_database(settings) as database,
    ):
        space = await cluster.api.get("/api/v1/namespaces/kube-system")
        spec = LogSpec(
            cluster_name="prod",
            cluster_uid=space["metadata"]["uid"],
            kubernetes="v1.36.3",
            redaction_key_id=None,
        )
        await write_log(database.dsn("writer"), STORY, spec=spec)
        tokens = {
            "static": TokenFile(data / "tokens").add("static"),
            **await _granted(cluster),
        }
        serves = replace(settings, kubeconfig=str(cluster.kubeconfig))
        async with serving(serves, asyncio.Event()) as address:
            alone = await _reviewed(cluster, tokens["fleet"], runs)
            compared = await _compared(address + "graphql", tokens, runs)
            return [*alone, *compared]


async def _reviewed(cluster: Cluster, token: str, runs: int) -> list[Number]:
    """Measure the reviews alone: of a token and of ten rights."""
    client = ClusterClient.from_kubeconfig(str(cluster.kubeconfig))
    reviews = KubernetesReviews(client, ("recorder",))
    guard = ClusterGuard(Reviewing(reviews), None)
    headers = {"authorization": f"Bearer {token}"}
    wanted = [Right("", "pods", f"team-{number}") for number in range(10)]

    async def ask() -> float:
        begun = time.perf_counter()
        who = await guard.admit(headers)
        assert who.rights is not None, "of the cluster"
        await who.rights.held(wanted)
        return (time.perf_counter() - begun) * 1000

    first = await ask()
    turns = [sorted([await ask() for _ in range(1000)]) for _ in range(runs)]
    await client.close()
    return [
        Number(
            name="TokenReview and ten SubjectAccessReviews, p95",
            unit="ms",
            values=[at(turn, 95) for turn in turns],
            target="<= 2",
        ),
        Number(name="the same, first", unit="ms", values=[first]),
    ]


async def _granted(cluster: Cluster) -> dict[str, str]:
    """Make the readers of the cluster; return their tokens."""
    found = {}
    for who in ("fleet", "tenant"):
        await cluster.kubectl("create", "serviceaccount", who)
        made = await cluster.kubectl(
            "create", "token", who, "--audience", "recorder"
        )
        found[who] = made.strip()
    for grant in GRANTS:
        await cluster.kubectl("create", *grant)
    return found


Times = dict[str, list[float]]


async def _compared(
    url: str, tokens: dict[str, str], runs: int
) -> list[Number]:
    async with aiohttp.ClientSession() as session:

        async def ask(who: str) -> float:
            headers = {"Authorization": f"Bearer {tokens[who]}"}
            begun = time.perf_counter()
            async with session.post(url, json=QUERY, headers=headers) as one:
                body = await one.json()
            assert body["data"]["entries"]["nodes"], (who, body)
            return (time.perf_counter() - begun) * 1000

        await ask("static")
        first = {who: await ask(who) for who in tokens}
        turns: list[Times] = []
        for _ in range(runs):
            times: Times = {who: [] for who in tokens}
            for _ in range(ASKED):
                for who in tokens:
                    times[who].append(await ask(who))
            turns.append({who: sorted(each) for who, each in times.items()})
            say(f"  p95 {[round(at(t, 95), 2) for t in turns[-1].values()]}")
    return [
        number for who in READS for number in _numbers(who, turns, first[who])
    ]


def _numbers(who: str, turns: list[Times], first: float) -> list[Number]:
    def more(percent: int) -> list[float]:
        return [at(t[who], percent) - at(t["static"], percent) for t in turns]

    reads = READS[who]
    return [
        Number(name=f"reviews add, {reads}, p50", unit="ms", values=more(50)),
        Number(
            name=f"reviews add, {reads}, p95",
            unit="ms",
            values=more(95),
            target="<= 2",
        ),
        Number(name=f"first answer, {reads}", unit="ms", values=[first]),
    ]


def at(times: list[float], percent: int) -> float:
    return times[len(times) * percent // 100]


READS = {"fleet": "everything", "tenant": "a namespace"}
