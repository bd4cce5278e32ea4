"""Operators as their makers wrote them: JobSet, Kueue, KubeRay and others.

Each is built once from a Go module, like the control plane, and runs as a
process beside it. Its custom resources come from the same module, so that
both are of one version. Webhooks are not installed unless an operator does
not work without them: objects are written as defaulting would leave them.
"""

import asyncio
import base64
import json
import os
import subprocess
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.binaries import Module, built, cache
from tests.cluster.definitions import CRDS
from tests.cluster.processes import Part
from tests.cluster.toolchain import find_go
from tests.cluster.waiting import until
from tests.corpus.stage import Stage

__all__ = [
    "HOOKS",
    "JOBSET",
    "KARPENTER",
    "KUBERAY",
    "KUEUE",
    "LWS",
    "MPI",
    "TRAINER",
    "TRAINING",
    "Operator",
    "install_webhooks",
    "module_folder",
    "running",
]

HOOKS = "/apis/admissionregistration.k8s.io/v1"

HOOKED = frozenset({"leaderworkersets", "pods"})

OF_GROUPS = {
    "matchExpressions": [
        {"key": "leaderworkerset.sigs.k8s.io/name", "operator": "Exists"}
    ]
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator(Module):
    """An operator's Go module, and where it keeps its custom resources."""

    requires: str
    version: str
    crds: tuple[str, ...]
    shares: str | None = None
    """The Go module of several operators, which are of one Kubernetes."""

    @property
    def folder(self) -> Path:
        """Where the sources are."""
        return Path(__file__).with_name("go") / (self.shares or self.name)

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}"


JOBSET = Operator(
    name="jobset",
    package="sigs.k8s.io/jobset",
    requires="sigs.k8s.io/jobset",
    version="v0.11.0",
    crds=("config/components/crd/bases/*.yaml",),
)

KUEUE = Operator(
    name="kueue",
    package="sigs.k8s.io/kueue/cmd/kueue",
    requires="sigs.k8s.io/kueue",
    version="v0.14.0",
    crds=("config/components/crd/bases/*.yaml",),
)

LWS = Operator(
    name="lws",
    package="sigs.k8s.io/lws/cmd",
    requires="sigs.k8s.io/lws",
    version="v0.7.0",
    crds=("config/crd/bases/*.yaml",),
    shares="gangs",
)

TRAINING = Operator(
    name="training-operator",
    package="github.com/kubeflow/training-operator/cmd/training-operator.v1",
    requires="github.com/kubeflow/training-operator",
    version="v1.9.3",
    crds=("manifests/base/crds/kubeflow.org_pytorchjobs.yaml",),
    shares="gangs",
)

TRAINER = Operator(
    name="trainer",
    package=("github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager"),
    requires="github.com/kubeflow/trainer/v2",
    version="v2.1.0",
    crds=("manifests/base/crds/trainer*.yaml",),
    shares="gangs",
)

MPI = Operator(
    name="mpi-operator",
    package="github.com/kubeflow/mpi-operator/cmd/mpi-operator",
    requires="github.com/kubeflow/mpi-operator",
    version="v0.7.0",
    crds=("manifests/base/kubeflow.org_mpijobs.yaml",),
    shares="gangs",
)

KUBERAY = Operator(
    name="kuberay",
    package="github.com/ray-project/kuberay/ray-operator",
    requires="github.com/ray-project/kuberay/ray-operator",
    version="v1.5.1",
    crds=("config/crd/bases/*.yaml",),
    shares="gangs",
)

KARPENTER = Operator(
    name="karpenter",
    package="sigs.k8s.io/karpenter/kwok",
    requires="sigs.k8s.io/karpenter",
    version="v1.8.0",
    crds=("pkg/apis/crds/*.yaml", "kwok/apis/crds/*.yaml"),
)


@asynccontextmanager
async def running(
    stage: Stage,
    operator: Operator,
    flags: Mapping[str, str],
    *,
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[Part]:
    """Install an operator's resources and run it."""
    program = await asyncio.to_thread(built, operator)
    for crd in await asyncio.to_thread(_definitions, operator):
        await stage.api.create(CRDS, crd)
        await _served(stage, crd)
    part = Part(
        operator.name,
        [str(stage.cluster.binary), "exec", str(program)],
        dict(flags),
        folder=stage.cluster.folder,
    )
    user = f"system:serviceaccount:{operator.name}-system:{operator.name}"
    # In a list of kubeconfigs a colon would part two of them.
    pair = stage.cluster.authority.client(user, ["system:masters"])
    kubeconfig = stage.cluster.kubeconfig_for(pair, operator.name)
    part.environment = {"KUBECONFIG": str(kubeconfig), **(environment or {})}
    stage.real.append(operator.title)
    try:
        await part.start()
        yield part
    finally:
        part.kill_now()


async def install_webhooks(
    stage: Stage, operator: Operator, manifest: str, port: int
) -> None:
    """Install the webhooks for LeaderWorkerSets and their Pods.

    They are served on a port of this machine. Other Pods do not wait for
    them, as in the chart of LeaderWorkerSet.
    """
    folder = await asyncio.to_thread(module_folder, operator)
    text = await asyncio.to_thread((folder / manifest).read_text)
    authority = stage.cluster.authority.certificate.read_bytes()
    for config in yaml.safe_load_all(text):
        # By its own name, an operator would put certificates of its own.
        config["metadata"]["name"] += f".{operator.name}"
        config["webhooks"] = [
            hook | {"objectSelector": OF_GROUPS if "pods" in of else {}}
            for hook in config["webhooks"]
            if (of := {*hook["rules"][0]["resources"]}) <= HOOKED
        ]
        for hook in config["webhooks"]:
            path = hook["clientConfig"]["service"]["path"]
            hook["clientConfig"] = {
                "url": f"https://127.0.0.1:{port}{path}",
                "caBundle": base64.b64encode(authority).decode(),
            }
        plural = f"{config['kind'].lower()}s"
        await stage.api.create(f"{HOOKS}/{plural}", config)


async def _served(stage: Stage, crd: Mapping[str, Any]) -> None:
    """Wait until a custom resource is served, and discovery says so."""
    group, plural = crd["spec"]["group"], crd["spec"]["names"]["plural"]
    for version in crd["spec"]["versions"]:
        if not version["served"]:
            continue
        served = f"/apis/{group}/{version['name']}"

        async def discovered(served: str = served) -> bool:
            if not await stage.api.answers(served):
                return False
            found = await stage.api.get(served)
            names = {one["name"] for one in found["resources"]}
            return plural in names and await stage.api.answers(
                f"{served}/{plural}"
            )

        await until(discovered, f"{served}/{plural} is served")


def module_folder(operator: Operator) -> Path:
    """Return where Go keeps the sources of an operator."""
    go = find_go(cache())
    said = subprocess.run(
        [go.command, "list", "-m", "-json", operator.requires],
        cwd=operator.folder,
        env=os.environ | {"GOWORK": "off"},
        capture_output=True,
        check=True,
    )
    return Path(json.loads(said.stdout)["Dir"])


def _definitions(operator: Operator) -> Iterable[dict[str, Any]]:
    """Read an operator's custom resources, without their prose."""
    folder = module_folder(operator)
    found = [
        yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
        for pattern in operator.crds
        for path in sorted(folder.glob(pattern))
    ]
    return [_without_prose(crd) for crd in found]


def _without_prose(value: Any) -> Any:
    """Leave out descriptions, which are most of a custom resource."""
    if isinstance(value, dict):
        return {
            key: _without_prose(inner)
            for key, inner in value.items()
            if not (key == "description" and isinstance(inner, str))
        }
    if isinstance(value, list):
        return [_without_prose(inner) for inner in value]
    return value
