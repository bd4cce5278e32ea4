"""The operators of all kinds, running beside one cluster."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import yaml

from tests.corpus.incidents.gangs import jobset_controller
from tests.corpus.kueue import LWS_FRAMEWORK, kueue_controller
from tests.corpus.operators import (
    HOOKS,
    KUBERAY,
    LWS,
    MPI,
    TRAINER,
    TRAINING,
    install_webhooks,
    running,
)
from tests.corpus.placing import the_namespace
from tests.corpus.stage import Stage

__all__ = ["all_operators"]

FRAMEWORKS: Final = (
    "batch/job",
    "jobset.x-k8s.io/jobset",
    "kubeflow.org/mpijob",
    "kubeflow.org/pytorchjob",
    LWS_FRAMEWORK,
    "pod",
    "ray.io/rayjob",
    "trainer.kubeflow.org/trainjob",
)
"""What Kueue queues; a LeaderWorkerSet by its groups of Pods."""

ROTATED: Final = Path("/tmp/k8s-webhook-server/serving-certs")
"""Where the training-operator looks for certificates, a constant of it."""


@asynccontextmanager
async def all_operators(stage: Stage) -> AsyncIterator[None]:
    """Run JobSet, Kueue, LWS, both trainers, MPI and Ray."""
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        await enter(jobset_controller(stage))
        await enter(_lws(stage))
        await enter(_trainer(stage))
        await enter(_training(stage))
        await enter(_mpi(stage))
        await enter(_ray(stage))
        # The last: it begins with the kinds that are served.
        await enter(kueue_controller(stage, FRAMEWORKS))
        yield


@asynccontextmanager
async def _lws(stage: Stage) -> AsyncIterator[None]:
    ports = stage.cluster.ports
    port, folder = ports.take(), _certificates(stage, stage.folder / "lws")
    config = {
        "apiVersion": "config.lws.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "internalCertManagement": {"enable": False},
        "leaderElection": {"leaderElect": False},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{ports.take()}"},
        "webhook": {
            "host": "127.0.0.1",
            "port": port,
            "certDir": str(folder),
        },
    }
    path = _written(folder / "config.yaml", config)
    flags = {"config": str(path), "zap-devel": "false"}
    async with running(stage, LWS, flags):
        # Its webhook for Pods is what numbers the Pods of a group.
        await install_webhooks(
            stage, LWS, "config/webhook/manifests.yaml", port
        )
        yield


@asynccontextmanager
async def _trainer(stage: Stage) -> AsyncIterator[None]:
    ports = stage.cluster.ports
    folder = stage.folder / "trainer"
    _certificates(stage, folder / "k8s-webhook-server/serving-certs")
    config = {
        "apiVersion": "config.trainer.kubeflow.org/v1alpha1",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": f"127.0.0.1:{ports.take()}"},
        "metrics": {"bindAddress": "0", "secureServing": False},
        "webhook": {"host": "127.0.0.1", "port": ports.take()},
        "leaderElection": {"leaderElect": False},
        "certManagement": {"enable": False},
    }
    path = _written(folder / "config.yaml", config)
    environment = {"TMPDIR": str(folder)}
    async with running(
        stage, TRAINER, {"config": str(path)}, environment=environment
    ):
        yield


@asynccontextmanager
async def _training(stage: Stage) -> AsyncIterator[None]:
    ports, api = stage.cluster.ports, stage.api
    _certificates(stage, ROTATED)
    await the_namespace(api, "kubeflow")
    secret = {"metadata": {"name": "training-operator-webhook-cert"}}
    await api.create("/api/v1/namespaces/kubeflow/secrets", secret)
    name = "validator.training-operator.kubeflow.org"
    empty = {"metadata": {"name": name}, "webhooks": []}
    await api.create(f"{HOOKS}/validatingwebhookconfigurations", empty)
    flags = {
        "enable-scheme": "pytorchjob",
        "metrics-bind-address": "0",
        "health-probe-bind-address": f"127.0.0.1:{ports.take()}",
        "webhook-server-port": str(ports.take()),
        "zap-devel": "false",
    }
    async with running(stage, TRAINING, flags):
        yield


@asynccontextmanager
async def _mpi(stage: Stage) -> AsyncIterator[None]:
    await the_namespace(stage.api, "mpi-operator")
    kubeconfig = stage.cluster.folder / "kubeconfigs" / MPI.name
    flags = {"kubeConfig": str(kubeconfig)}
    async with running(stage, MPI, flags):
        yield


@asynccontextmanager
async def _ray(stage: Stage) -> AsyncIterator[None]:
    port = stage.cluster.ports.take()
    flags = {
        "enable-leader-election": "false",
        "metrics-addr": "0",
        "health-probe-bind-address": f"127.0.0.1:{port}",
    }
    # Both would ask Ray, which does not run in these containers.
    environment = {
        "ENABLE_PROBES_INJECTION": "false",
        "ENABLE_INIT_CONTAINER_INJECTION": "false",
    }
    async with running(stage, KUBERAY, flags, environment=environment):
        yield


def _certificates(stage: Stage, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    pair = stage.cluster.authority.server()
    for name in ("tls.crt", "ca.crt"):
        (folder / name).write_bytes(pair.certificate.read_bytes())
    (folder / "tls.key").write_bytes(pair.key.read_bytes())
    return folder


def _written(path: Path, config: Mapping[str, Any]) -> Path:
    path.write_text(yaml.safe_dump(dict(config)))
    return path
