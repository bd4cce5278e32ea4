"""Gangs of JobSet that lose nodes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.corpus.incident import incident
from tests.corpus.operators import JOBSET, running
from tests.corpus.placing import Placed, place, pod_spec, the_namespace
from tests.corpus.stage import Stage

JOBSETS = "jobset.x-k8s.io/v1alpha2/jobsets"


@asynccontextmanager
async def jobset_controller(stage: Stage) -> AsyncIterator[None]:
    """Run the JobSet controller."""
    pair = stage.cluster.authority.server()
    folder = stage.folder / "jobset"
    config = _jobset_config(folder, pair.certificate, pair.key, stage)
    flags = {"config": str(config), "zap-devel": "false"}
    async with running(stage, JOBSET, flags):
        yield


def _jobset_config(
    folder: Path, certificate: Path, key: Path, stage: Stage
) -> Path:
    folder.mkdir()
    (folder / "tls.crt").write_bytes(certificate.read_bytes())
    (folder / "tls.key").write_bytes(key.read_bytes())
    ports = stage.cluster.ports
    config = {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "internalCertManagement": {"enable": False},
        "leaderElection": {"leaderElect": False},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{ports.take()}"},
        "webhook": {
            "host": "127.0.0.1",
            "port": ports.take(),
            "certDir": str(folder),
        },
    }
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


async def the_jobset(
    stage: Stage, name: str, *, jobs: int, pods: int, restarts: int
) -> Placed:
    """Make the JobSet train/NAME and wait until all of it runs."""
    await the_namespace(stage.api, "train")
    job = {
        "parallelism": pods,
        "completions": pods,
        "completionMode": "Indexed",
        "backoffLimit": 0,
        "template": {"spec": pod_spec()},
    }
    worker = {
        "name": "worker",
        "replicas": jobs,
        "template": {"spec": job},
    }
    jobset: dict[str, Any] = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {
            "network": {"enableDNSHostnames": False},
            "successPolicy": {"operator": "All"},
            "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
            "failurePolicy": {"maxRestarts": restarts},
            "replicatedJobs": [worker],
        },
    }
    path = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/train/jobsets"
    await stage.api.create(path, jobset)
    return await place(
        stage.api,
        ("JobSet", "train", name),
        f"jobset.sigs.k8s.io/jobset-name={name}",
        jobs * pods,
        gang=jobs * pods,
        gpus=8,
    )


@incident("rack-loss-jobset", nodes=6, racks=3)
async def rack_loss_jobset(stage: Stage) -> None:
    """A rack loses power under a JobSet, which begins again as a whole."""
    lost = ("gpu-002", "gpu-005")
    async with jobset_controller(stage):
        gang = await the_jobset(stage, "llm", jobs=2, pods=3, restarts=5)
        for node in lost:
            stage.expect(
                node,
                "reboot",
                "abrupt",
                fault="power-loss",
                boots=(1, 2),
                back=(f"boot {node}", "end"),
                at_most="likely",
                unsure="two nodes of one rack stopped within one renewal; no "
                "record of the supply itself",
            )
        stage.hit(
            gang,
            *lost,
            outcome="restarted",
            accept={"first_node": ["gpu-005"]},
            unsure="both nodes were lost at once: either may be the first",
        )
        async with stage.recording(JOBSETS):
            await stage.crash(*lost)
            await stage.pause(26)
            for node in lost:
                await stage.boot(node, label=f"boot {node}")
                await stage.pause(2)
            await stage.ready(*lost)
            await stage.pause(25)


@incident("jobset-fails", nodes=3)
async def jobset_fails(stage: Stage) -> None:
    """A machine dies under a JobSet that may not restart, and it fails."""
    node = "gpu-002"
    async with jobset_controller(stage):
        gang = await the_jobset(stage, "llm", jobs=1, pods=3, restarts=0)
        stage.expect(
            node,
            "reboot",
            "abrupt",
            boots=(1, 2),
            back=("boot", "end"),
            at_most="possible",
        )
        stage.hit(gang, node, outcome="failed")
        async with stage.recording(JOBSETS):
            await stage.power_cycle(node, 20)
            await stage.pause(15)
