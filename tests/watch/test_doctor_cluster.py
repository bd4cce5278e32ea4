"""What is missing in a cluster is reported, with the remedy."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from email.utils import formatdate
from pathlib import Path

import pytest
import yaml
from aiohttp import web

from recorder.doctor import Check
from recorder.doctor import cluster as reaching
from recorder.doctor.cluster import look_at_cluster
from recorder.model.settings import Settings
from recorder.wiring.checkup import probes
from tests.support.fake_api import Failure
from tests.support.fake_cluster import STANDARD, FakeCluster, Kind

KINDS = (
    *STANDARD,
    Kind("leases", "Lease", "coordination.k8s.io"),
    Kind("widgets", "Widget", "example.com"),
)
MANIFEST = Path(__file__).parents[2] / "deploy" / "rbac.yaml"


def forbidden(verb: str, plural: str) -> Failure:
    return Failure(403, verb=verb, plural=plural, times=1000)  # type: ignore[arg-type] # one of the verbs


async def checked(
    cluster: FakeCluster, folder: Path, **settings: object
) -> Sequence[Check]:
    path = cluster.kubeconfig(folder)
    made = Settings(kubeconfig=str(path), **settings)  # type: ignore[arg-type]
    return (await look_at_cluster(probes(made).cluster)).checks


def said(checks: Sequence[Check]) -> list[tuple[str, bool]]:
    return [(check.name, check.ok) for check in checks]


async def test_a_cluster_that_grants_all_is_found_sound(
    tmp_path: Path,
) -> None:
    async with FakeCluster() as cluster:
        checks = await checked(cluster, tmp_path)
        asked = [path for path, _ in cluster.requests]

    assert said(checks) == [
        ("cluster", True),
        ("cluster clock", True),
        ("cluster rights", True),
    ]
    assert "can be listed, watched and read" in checks[2].says
    assert "/api/v1/namespaces/kube-system/pods/recorder-doctor" in asked
    assert "/api/v1/nodes/recorder-doctor" in asked


@pytest.mark.parametrize("verb", ["list", "watch", "get"])
async def test_a_verb_that_is_missing_is_named_with_its_rule(
    tmp_path: Path, verb: str
) -> None:
    async with FakeCluster() as cluster:
        cluster.failures = [forbidden(verb, "pods")]
        *_, rights = await checked(cluster, tmp_path)

    assert not rights.ok
    assert rights.says == f"forbidden: {verb} v1/pods"
    assert rights.remedy is not None
    assert "kubectl apply -f deploy/rbac.yaml" in rights.remedy
    assert shipped_rule(rights.remedy) in rules("ClusterRole")


async def test_one_rule_that_is_missing_is_one_failure(
    tmp_path: Path,
) -> None:
    async with FakeCluster(KINDS) as cluster:
        cluster.failures = [
            forbidden(verb, plural)
            for verb in ("list", "watch", "get")
            for plural in ("pods", "nodes", "leases")
        ]
        *_, core, leases = await checked(cluster, tmp_path)

    assert core.says == (
        "forbidden: list, watch, get v1/nodes; list, watch, get v1/pods"
    )
    assert leases.remedy is not None
    assert 'Role "recorder" in namespace "kube-node-lease"' in leases.remedy
    assert shipped_rule(leases.remedy) in rules("Role")


async def test_what_is_included_beside_needs_a_rule_of_its_own(
    tmp_path: Path,
) -> None:
    async with FakeCluster(KINDS) as cluster:
        cluster.failures = [forbidden("list", "widgets")]
        *_, rights = await checked(
            cluster, tmp_path, include=("example.com/widgets",)
        )

    assert rights.remedy is not None
    assert rights.remedy.startswith(
        'add the rule {apiGroups: ["example.com"], resources: [widgets],'
        " verbs: [get, list, watch]}"
    )


async def test_a_watch_without_the_right_to_list_asks_for_no_object(
    tmp_path: Path,
) -> None:
    """A watch from nowhere begins with everything there is."""
    async with FakeCluster() as cluster:
        cluster.failures = [forbidden("list", "pods")]
        await checked(cluster, tmp_path)
        watches = [
            query
            for path, query in cluster.requests
            if path == "/api/v1/pods" and "watch" in query
        ]

    assert [query.get("fieldSelector") for query in watches] == [
        "metadata.name=recorder-doctor"
    ]


async def test_the_identity_may_be_forbidden_and_the_rest_be_tried(
    tmp_path: Path,
) -> None:
    async with FakeCluster() as cluster:
        cluster.failures = [forbidden("get", "namespaces")]
        checks = await checked(cluster, tmp_path)

    assert said(checks) == [
        ("cluster", False),
        ("cluster clock", True),
        ("cluster rights", False),
    ]
    assert "deploy/rbac.yaml" in str(checks[0].remedy)


async def test_credentials_that_are_refused_are_to_be_renewed(
    tmp_path: Path,
) -> None:
    async with FakeCluster() as cluster:
        cluster.token = "another"
        checks = await checked(cluster, tmp_path)

    assert said(checks) == [
        ("cluster", False),
        ("cluster clock", False),
        ("cluster rights", False),
    ]
    assert "renew the credentials" in str(checks[0].remedy)
    assert checks[1].says == 'skipped because "cluster" failed'


async def test_a_server_that_is_silent_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaching, "REACH", timedelta(seconds=0.2))
    async with FakeCluster() as cluster:
        cluster.answering.clear()
        checks = await checked(cluster, tmp_path)
        cluster.answering.set()

    assert not checks[0].ok
    assert "not done within 0.2 s" in checks[0].says
    assert "firewall" in str(checks[0].remedy)


@pytest.mark.parametrize(("skew", "ok"), [(0, 1), (1, 1), (90, 0), (-90, 0)])
async def test_a_clock_that_parts_from_the_servers_is_found(
    tmp_path: Path, skew: int, ok: int
) -> None:
    async with server_of_time(skew) as kubeconfig:
        path = tmp_path / "kubeconfig"
        path.write_text(kubeconfig)
        settings = Settings(kubeconfig=str(path))
        found = await look_at_cluster(probes(settings).cluster)
    checks = {check.name: check for check in found.checks}

    clock = checks["cluster clock"]

    assert clock.ok == bool(ok), clock
    assert ok or "NTP" in str(clock.remedy)


@asynccontextmanager
async def server_of_time(skew: int) -> AsyncIterator[str]:
    """Serve only the requested paths, with a fixed Date."""

    async def serve(request: web.Request) -> web.Response:
        body: dict[str, object] = {"gitVersion": "v1"}
        if request.path.startswith("/api/v1/namespaces"):
            body = {"metadata": {"uid": "one"}}
        elif request.path.startswith("/api"):
            body = {"kind": "APIGroupDiscoveryList", "items": []}
        date = formatdate(time.time() + skew, usegmt=True)
        return web.json_response(body, headers={"Date": date})

    app = web.Application()
    app.router.add_get("/{path:.*}", serve)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield yaml.safe_dump(
            {
                "current-context": "c",
                "clusters": [{"name": "c", "cluster": {"server": server}}],
                "users": [{"name": "c", "user": {"token": "t"}}],
                "contexts": [
                    {"name": "c", "context": {"cluster": "c", "user": "c"}}
                ],
            }
        )
    finally:
        await asyncio.shield(runner.cleanup())


def shipped_rule(remedy: str) -> tuple[str, frozenset[str]]:
    """Read the rule that a remedy names."""
    rule = yaml.safe_load(remedy[remedy.index("{") :])
    assert rule["verbs"] == ["get", "list", "watch"]
    (group,) = rule["apiGroups"]
    return group, frozenset(rule["resources"])


def rules(kind: str) -> set[tuple[str, frozenset[str]]]:
    """Return the rules of the manifest, one for each group."""
    return {
        (group, frozenset(rule["resources"]))
        for document in yaml.safe_load_all(MANIFEST.read_text())
        if document["kind"] == kind
        for rule in document["rules"]
        for group in rule["apiGroups"]
    }
