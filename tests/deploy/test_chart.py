"""The chart, as Helm renders it and the API server takes it."""

import dataclasses
import re
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from recorder.model.settings import CONVERTERS, Settings
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.deploy.chart import (
    CHART,
    GIVEN,
    HelmError,
    helm,
    objects,
    rendered,
    written,
)
from tests.deploy.pod import pod_of

EXTERNAL = "database.mode=external"
MATRIX: tuple[tuple[str, ...], ...] = (
    (),
    (EXTERNAL,),
    ("database.mode=embedded", "keys.secret=mine", "api.tokens.secret=mine"),
    ("api.enabled=false",),
    (EXTERNAL, "api.enabled=false", "recorder.replicas=1"),
    ("api.kubernetes=true",),
    (EXTERNAL, "api.kubernetes=true", "recorder.replicas=0"),
    (EXTERNAL, "api.registry.secret=clusters", "api.registry.key=fleet.toml"),
    ("retention.archive=s3://bucket/prefix", "retention.secret=bucket",
     "retention.budget=10GB", "recorder.replicas=0"),
    (EXTERNAL, "retention.archive=s3://bucket/prefix",
     "retention.secret=bucket"),
    (
        EXTERNAL,
        "retention.volume.accessMode=ReadWriteMany",
        "retention.volume.storageClass=shared",
    ),
    (EXTERNAL, "retention.volume.existingClaim=mine", "migrate.enabled=false"),
    (
        EXTERNAL,
        "serviceMonitor.enabled=true",
        "serviceMonitor.labels.release=prometheus",
        "serviceMonitor.apiToken.secret=prometheus-token",
        "prometheusRule.enabled=true",
        "dashboards.enabled=true",
    ),
    ("rbac.create=false", "serviceAccount.create=false",
     "serviceAccount.name=mine"),
    (EXTERNAL, "networkPolicy.enabled=false",
     "podDisruptionBudget.enabled=false"),
    (
        "networkPolicy.apiFrom[0].namespaceSelector.matchLabels.team=ml",
        "networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus",
    ),
    (EXTERNAL, "notify.enabled=true", "notify.secret=rules",
     "notify.replicas=2", "measure.enabled=true", "measure.secret=store",
     "measure.doorSecret=door", "measure.storePorts={8428}"),
    ("notify.enabled=true", "measure.enabled=true"),
    ("fullnameOverride=flight", "image.digest=sha256:" + "0" * 64,
     "image.repository=registry.example/recorder",
     "imagePullSecrets[0].name=pull"),
    ("settings.event_ttl=2h", "settings.include=example.com/widgets",
     "rbac.extraRules[0].apiGroups[0]=example.com",
     "rbac.extraRules[0].resources[0]=widgets",
     "rbac.extraRules[0].verbs[0]=list"),
    ("recorder.priorityClassName=system-cluster-critical",
     "recorder.nodeSelector.pool=infra",
     "recorder.tolerations[0].operator=Exists",
     "api.service.type=NodePort", "recorder.podAnnotations.a=b"),
)  # fmt: skip
"""Sets of values that change what is rendered."""

WRONG = {
    "recorder.replica=2": "'replica'",
    "recorder.replicas=two": "'/recorder/replicas'",
    "database.mode=mysql": "'/database/mode'",
    "settings.event_tll=1h": "'event_tll'",
    "image.digest=latest": "'/image/digest'",
    "retention.hot=week": "'/retention/hot'",
    "settings.event_ttl=hour": "'/settings/event_ttl'",
    "settings.full_fidelity=maybe": "'/settings/full_fidelity'",
    "settings.disk_free_min=100": "'/settings/disk_free_min'",
    "settings.knowledge=": "'/settings/knowledge'",
    "settings.audit_logs=": "'/settings/audit_logs'",
    "settings.links=Grafana": "'/settings/links'",
    "settings.retention_hot=1d": "'retention_hot'",
    "settings.audit_listen=0.0.0.0:8443": "'audit_certificate'",
    "settings.serve_key=/tls/key": "'serve_certificate'",
    "database.secret=mine": "needs database.mode=external",
    "recorder.replicas=2": "needs database.mode=external",
    "api.replicas=3": "needs database.mode=external",
    "api.registry.secret=clusters": "needs database.mode=external",
    "retention.volume.existingClaim=mine": "needs database.mode=external",
    "serviceAccount.create=false": "needs serviceAccount.name",
    "rbac.extraRules[0].verbs[0]=delete": "'/rbac/extraRules/0/verbs/0'",
    "api.service.port=0": "'/api/service/port'",
}
"""Values, and the name that the refusal gives."""


VALUES = (
    *("90s", "2h", "1h30m", "0s", "2 h", "h", "true", "OFF", "no", "maybe"),
    *("5", "5.5", "99.9", "100", "-1", "", "/a/file", "file", "a,b"),
    *("A=https://a", "A=https://a, B=http://b/{node}", "A=b", "A"),
)


def monitoring(kind: str) -> dict[str, Any]:
    """Define a kind of the Prometheus operator, with any content."""
    anything = {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
    }
    plural = f"{kind.lower()}s"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.monitoring.coreos.com"},
        "spec": {
            "group": "monitoring.coreos.com",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": anything},
                }
            ],
        },
    }


def named(sets: tuple[str, ...]) -> str:
    return ", ".join(sets)[:60] or "defaults"


def test_the_linter_finds_nothing() -> None:
    for sets in MATRIX:
        values = chain.from_iterable(("--set", each) for each in sets)
        assert "0 chart(s) failed" in helm("lint", str(CHART), *values)


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_wrong_value_is_refused_by_its_name(wrong: str) -> None:
    with pytest.raises(HelmError, match=re.escape(WRONG[wrong])):
        rendered(wrong)


@pytest.mark.parametrize(
    "name", [f.name for f in dataclasses.fields(Settings)], ids=str
)
def test_the_chart_takes_of_a_setting_what_the_program_takes(
    name: str,
) -> None:
    schema = orjson.loads((CHART / "values.schema.json").read_bytes())
    known = schema["properties"]["settings"]["properties"].get(name)
    if known is None:
        assert name in GIVEN
        return
    converted: Callable[[str], object] = CONVERTERS[name]
    for value in VALUES:
        try:
            converted(value)
        except ValueError:
            assert not re.search(known["pattern"], value), value
    field = next(f for f in dataclasses.fields(Settings) if f.name == name)
    if isinstance(field.default, (bool, float)):
        assert re.search(known["pattern"], str(field.default))


def test_every_value_is_in_the_schema_and_has_a_default() -> None:
    schema = orjson.loads((CHART / "values.schema.json").read_bytes())
    values = yaml.safe_load((CHART / "values.yaml").read_text())

    def compare(schema: Any, value: Any, path: str) -> None:
        known = schema.get("properties")
        if known is None:
            return
        assert schema["additionalProperties"] is False, path
        if path != "/settings":
            assert set(known) - {"global"} == set(value), path
            for name, each in value.items():
                compare(known[name], each, f"{path}/{name}")

    compare(schema, values, "")


def test_what_is_made_from_other_files_is_up_to_date() -> None:
    for path, content in written().items():
        assert path.read_text() == content, "run: python -m tests.deploy.chart"


@pytest.mark.parametrize("sets", MATRIX, ids=named)
def test_a_probe_fails_only_for_a_process_that_hangs(
    sets: tuple[str, ...],
) -> None:
    """Liveness asks what a waiting process answers too."""
    found = [o for o in objects(rendered(*sets)) if o["kind"] == "Deployment"]
    for deployment in found:
        (container,) = pod_of(deployment)["containers"]
        for probe in ("livenessProbe", "startupProbe"):
            assert container[probe]["httpGet"]["path"] == "/healthz"
        assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"


@pytest.mark.parametrize("sets", MATRIX, ids=named)
def test_only_what_asks_the_cluster_gets_a_token_and_no_secret_is_a_value(
    sets: tuple[str, ...],
) -> None:
    found = objects(rendered(*sets))
    assert not [each for each in found if each["kind"] == "Secret"]
    for each in found:
        if each["kind"] not in {"Deployment", "Job", "CronJob"}:
            continue
        pod = pod_of(each)
        (container,) = pod["containers"]
        asks = container["args"][0] == "record" or any(
            variable["name"] == "RECORDER_SERVE_KUBERNETES"
            for variable in container["env"]
        )
        assert pod["automountServiceAccountToken"] is asks
        assert "limits" in container["resources"]
        for variable in container["env"]:
            if variable["name"] == "RECORDER_DATABASE_URL":
                assert "secretKeyRef" in variable["valueFrom"]
        # What measures has its token, not the keys of the door.
        mounted = {one["name"] for one in container["volumeMounts"]}
        if container["args"][0] == "measure":
            assert "measure" in mounted
            assert not mounted & {"door", "keys", "tokens"}
        elif "RECORDER_METRICS_FILE" not in {
            one["name"] for one in container["env"]
        }:
            assert "measure" not in mounted


def test_a_registry_comes_from_a_secret_in_place_of_a_database() -> None:
    found = objects(rendered(EXTERNAL, "api.registry.secret=clusters"))
    (api,) = [
        each
        for each in found
        if each["kind"] == "Deployment"
        and each["metadata"]["name"].endswith("-api")
    ]
    pod = pod_of(api)
    (container,) = pod["containers"]
    settings = {one["name"]: one.get("value") for one in container["env"]}
    mounts = {one["name"]: one for one in container["volumeMounts"]}
    volumes = {one["name"]: one for one in pod["volumes"]}

    assert "RECORDER_DATABASE_URL" not in settings
    assert settings["RECORDER_CLUSTERS_FILE"] == "/registry/clusters.toml"
    assert mounts["registry"]["mountPath"] == "/registry"
    assert mounts["registry"]["readOnly"] is True
    assert volumes["registry"]["secret"]["secretName"] == "clusters"
    assert volumes["registry"]["secret"]["items"] == [
        {"key": "clusters.toml", "path": "clusters.toml"}
    ]


@pytest.mark.timeout(300)
async def test_the_api_server_takes_every_object(tmp_path: Path) -> None:
    """Of every set of values, and each Pod under the restricted standard."""
    options = Options(machines=())
    async with Cluster.start(tmp_path / "cluster", options) as cluster:
        await cluster.kubectl(
            "apply",
            "-f",
            "-",
            stdin=yaml.safe_dump_all(
                monitoring(kind)
                for kind in ("ServiceMonitor", "PrometheusRule")
            ),
        )
        await cluster.kubectl("create", "namespace", "recorder")
        await cluster.kubectl(
            "label", "namespace", "recorder",
            "pod-security.kubernetes.io/enforce=restricted",
        )  # fmt: skip
        for name in ("recorder", "recorder-api", "flight", "mine",
                     "flight-api"):  # fmt: skip
            await cluster.kubectl(
                "create", "serviceaccount", name, "-n", "recorder"
            )
        for sets in MATRIX:
            text = rendered(*sets)
            taken = await cluster.kubectl(
                "apply", "--dry-run=server", "-f", "-", stdin=text
            )
            assert len(taken.splitlines()) == len(objects(text))
            pods = yaml.safe_dump_all(pods_of(text))
            await cluster.kubectl(
                "create", "--dry-run=server", "-f", "-", stdin=pods
            )


def pods_of(text: str) -> list[dict[str, Any]]:
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"generateName": "p-", "namespace": "recorder"},
            "spec": pod_of(each),
        }
        for each in objects(text)
        if each["kind"] in {"Deployment", "Job", "CronJob"}
    ]
