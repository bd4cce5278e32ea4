"""Helm, and what it makes of the chart.

``python -m tests.deploy.chart`` writes what is made from other files: the
rules, alerts and dashboards of the chart from the files beside it,
the settings that its schema knows, and deploy/manifests from the chart.
"""

import dataclasses
import json
import subprocess
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from recorder.model.settings import CONVERTERS, Settings
from tests.cluster.binaries import HELM, built

__all__ = [
    "CHART",
    "GIVEN",
    "HelmError",
    "helm",
    "objects",
    "rendered",
    "written",
]

DEPLOY = Path(__file__).parents[2] / "deploy"
CHART = DEPLOY / "chart"
BOARDS = CHART / "files/dashboards"
SCHEMA = CHART / "values.schema.json"
RULES = CHART / "files/rules.yaml"
SERVE_RULES = CHART / "files/rules-serve.yaml"
ALERTS = CHART / "files/alerts.yaml"
SETS = {
    "external": ("database.mode=external",),
    "embedded": ("database.mode=embedded",),
}
GIVEN = frozenset({
    "database_url", "data_dir", "health_listen", "serve_listen",
    "clusters_file",
    "token_file", "redaction_key_file", "signing_key_file", "kubeconfig",
    "context", "metrics_file", "notify_file", "notify_listen",
    "serve_kubernetes",
    "retention_hot", "retention_archive", "retention_budget",
})  # fmt: skip
"""Settings that the chart makes itself."""

FORMS = {
    "event_ttl": r"^([0-9]+(\.[0-9]+)?(ms|s|m|h|d))+$",
    "full_fidelity": r"^(?i:true|1|yes|on|false|0|no|off)$",
    "disk_free_min": r"^[0-9]{1,2}(\.[0-9]+)?$",
    "audit_key": r"^/.+$",
    "links": r"^[^=,]+=\s*https?://[^,\s]+"
    r"(\s*,[^=,]+=\s*https?://[^,\s]+)*\s*$",
}
"""Of the values of a setting, and of all that are converted as it is."""

OWN_FORMS = {
    "audit_listen": r"^(\[[0-9a-fA-F:]+\]|[^:\s]+):[0-9]{1,5}$",
    "retention_unarchived": "^(keep|drop)$",
    "send_url": "^https://[^/]+",
    "slurm_url": "^https?://[^/]+",
}
"""Of settings that are texts."""

NEEDS = {
    "audit_listen": ["audit_certificate", "audit_key"],
    "audit_certificate": ["audit_listen"],
    "audit_key": ["audit_listen"],
    "audit_client_ca": ["audit_listen"],
    "audit_token_file": ["audit_listen"],
    "ingest_token_file": ["audit_listen"],
    "ingest_mappings": ["ingest_token_file"],
    "slurm_url": ["slurm_cluster", "slurm_token_file"],
    "serve_certificate": ["serve_key"],
    "serve_key": ["serve_certificate"],
    "serve_proxy_ca": ["serve_certificate"],
    "serve_proxy_names": ["serve_proxy_ca"],
    "serve_proxy_headers": ["serve_proxy_ca"],
}
"""Settings that have no effect, or fail, without others."""

HEAD = """\
# Made from deploy/chart by `python -m tests.deploy.chart`; do not edit.
"""
NAMESPACE = """\
---
apiVersion: v1
kind: Namespace
metadata:
  name: recorder
  labels:
    pod-security.kubernetes.io/enforce: restricted
"""


class HelmError(Exception):
    """Helm refused; the message is what it said."""


def helm(*arguments: str) -> str:
    """Run Helm in a home of its own; return what it printed."""
    with TemporaryDirectory(prefix="recorder-helm-") as home:
        done = subprocess.run(
            [_program(), *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={"HOME": home},
        )
    if done.returncode != 0:
        raise HelmError(done.stderr + done.stdout)
    return done.stdout


@cache
def _program() -> Path:
    return built(HELM)


def rendered(*sets: str, hooks: bool = True, only: str = "") -> str:
    """Render the chart into the namespace recorder, with values."""
    chosen = [word for each in sets for word in ("--set", each)]
    if not hooks:
        chosen.append("--no-hooks")
    if only:
        chosen += ["--show-only", f"templates/{only}.yaml"]
    name = ("recorder", str(CHART), "--namespace", "recorder")
    return helm("template", *name, *chosen)


def objects(text: str) -> list[dict[str, Any]]:
    """Read manifests."""
    return [each for each in yaml.safe_load_all(text) if each]


def rules(name: str) -> str:
    """Return the rules of the cluster role of a file, as text."""
    text = (DEPLOY / name).read_text()
    role = text.partition("rules:\n")[2].partition("---\n")[0]
    return f"# Of deploy/{name}.\n" + textwrap.dedent(role)


def alerts() -> str:
    """Return the alert rules of deploy/prometheus, as the chart has them."""
    text = (DEPLOY / "prometheus/rules.yaml").read_text()
    return "# Of deploy/prometheus/rules.yaml.\n" + text


def schema() -> str:
    """Return the schema of the values, with every setting of today."""
    document = json.loads(SCHEMA.read_text())
    forms = {CONVERTERS[name]: form for name, form in FORMS.items()}
    names = [
        field.name
        for field in dataclasses.fields(Settings)
        if field.name not in GIVEN
    ]
    settings = document["properties"]["settings"]
    settings["properties"] = {
        name: {
            "type": "string",
            "pattern": OWN_FORMS.get(name)
            or forms.get(CONVERTERS[name], r"\S"),
        }
        for name in names
    }
    settings["dependencies"] = NEEDS
    return json.dumps(document, indent=2) + "\n"


def before_rendering() -> dict[Path, str]:
    """Return the content of what is made for the chart."""
    boards = (DEPLOY / "grafana").glob("*.json")
    return {
        ALERTS: alerts(),
        RULES: rules("rbac.yaml"),
        SERVE_RULES: rules("rbac-serve.yaml"),
        SCHEMA: schema(),
        **{BOARDS / path.name: path.read_text() for path in boards},
    }


def written() -> dict[Path, str]:
    """Return the content of each file that is made from others."""
    made = before_rendering()
    for name, sets in SETS.items():
        plain = _plain(rendered(*sets, hooks=False))
        made[DEPLOY / f"manifests/{name}.yaml"] = HEAD + NAMESPACE + plain
    migrate = _plain(rendered(*SETS["external"], only="migrate"))
    made[DEPLOY / "manifests/migrate.yaml"] = HEAD + migrate
    return made


def _plain(text: str) -> str:
    """Leave out what only Helm reads."""
    return "".join(_without_helm(text.splitlines(keepends=True)))


def _without_helm(lines: list[str]) -> Iterator[str]:
    kept = [
        line
        for line in lines
        if "helm.sh/" not in line
        and "managed-by: Helm" not in line
        and not line.startswith("# Source: ")
    ]
    for line, after in zip(kept, [*kept[1:], ""], strict=True):
        if line.strip() == "annotations:" and _depth(after) <= _depth(line):
            continue
        yield line


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def main() -> None:
    """Write them."""
    # First what the chart is rendered with.
    for path, content in before_rendering().items():
        path.write_text(content)
    for path, content in written().items():
        path.write_text(content)


if __name__ == "__main__":
    main()
