"""Operators as their makers wrote them: JobSet, Kueue, Karpenter.

Each is built once from its own Go module, like the control plane, and runs as
a process beside it. Their custom resources come from the same module, so that
both are of one version. Webhooks are not installed, which spares the cluster
their certificates: objects are written as defaulting would leave them.
"""

import asyncio
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

__all__ = ["JOBSET", "KARPENTER", "KUEUE", "Operator", "running"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator(Module):
    """An operator's Go module, and where it keeps its custom resources."""

    requires: str
    version: str
    crds: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """Where the sources are."""
        return Path(__file__).with_name("go") / self.name

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


async def _served(stage: Stage, crd: Mapping[str, Any]) -> None:
    spec = crd["spec"]
    version = spec["versions"][-1]["name"]
    path = f"/apis/{spec['group']}/{version}/{spec['names']['plural']}"
    await until(lambda: stage.api.answers(path), f"{path} is served")


def _definitions(operator: Operator) -> Iterable[dict[str, Any]]:
    """Read an operator's custom resources, without their prose."""
    go = find_go(cache())
    said = subprocess.run(
        [go.command, "list", "-m", "-json", operator.requires],
        cwd=operator.folder,
        env=os.environ | {"GOWORK": "off"},
        capture_output=True,
        check=True,
    )
    folder = Path(json.loads(said.stdout)["Dir"])
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
