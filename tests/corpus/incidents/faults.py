"""Something breaks, and is seen: remediated or only noted."""

import asyncio

from tests.corpus.acting import Controller, acting
from tests.corpus.expecting import CONTROLLER, a_controller
from tests.corpus.incident import incident
from tests.corpus.lifecycle import LIFECYCLE, detect, lifecycle_reboot
from tests.corpus.nvsentinel import install_crd, remediate, report_xid
from tests.corpus.placing import Placed, the_deployment, the_job
from tests.corpus.stage import Stage

NODE = "gpu-002"
SPARE = "gpu-004"


async def _fail(stage: Stage, job: Placed, node: str, code: int = 1) -> None:
    reason = "OOMKilled" if code == 137 else "Error"
    pod = job.on(node)
    await stage.machine(node).fail_pod(job.namespace, pod, code, reason)


@incident("kernel-deadlock", nodes=3)
async def kernel_deadlock(stage: Stage) -> None:
    """A kernel deadlocks while Ready; a controller reboots the node."""
    job = await the_job(stage.api, "llm-pretrain", 3)
    stage.imitated += ["node-problem-detector", LIFECYCLE]
    stage.expect(
        NODE,
        "reboot",
        "planned",
        fault="hung-kernel",
        decision="auto-remediation",
        actor=a_controller(LIFECYCLE),
        boots=(1, 2),
        back=("uncordon", "end"),
        at_most="proven",
        accept={"actor": [None]},
    )
    stage.hit(job, NODE, outcome="restarted")
    async with (
        acting(stage, "node-problem-detector") as detector,
        acting(stage, LIFECYCLE) as lifecycle,
        stage.recording(),
    ):
        stage.did("fault", f"the detector finds a deadlock on {NODE}")
        await detect(detector, NODE)
        await stage.pause(4)
        await lifecycle_reboot(
            stage,
            lifecycle,
            NODE,
            reason="KernelDeadlock,NLCCPendingExitProduction",
            phase="production-reboot",
            off=8,
        )
        await detect(detector, NODE, deadlock=False)
        await stage.pause(8)


@incident("gpu-xid-79", nodes=4)
async def gpu_xid_79(stage: Stage) -> None:
    """A GPU falls off the bus; NVSentinel quarantines and reboots."""
    await install_crd(stage)
    job = await the_job(stage.api, "llm-pretrain", 2, nodes=("gpu-001", NODE))
    chat = await the_deployment(
        stage.api, "chat", 1, gpus=0, prefer=NODE, grace=1
    )
    stage.imitated.append("NVSentinel (health monitor to janitor)")
    stage.expect(
        NODE,
        "reboot",
        "planned",
        fault="gpu-fault",
        decision="auto-remediation",
        actor=CONTROLLER,
        boots=(1, 2),
        back=("uncordon", "end"),
        at_most="proven",
    )
    stage.hit(job, NODE, outcome="restarted")
    stage.hit(
        chat,
        NODE,
        outcome="rescheduled",
        hit_by="drain",
        accept={"hit_by": ["node-failure"]},
        unsure="it was evicted from a node on which a fault held",
    )
    async with stage.recording("janitor.dgxc.nvidia.com/v1alpha1/rebootnodes"):
        await report_xid(stage, NODE)
        stage.machine(NODE).set_healthy_gpus(7)
        await stage.pause(5)
        stage.did("pod-failed", "the Pod on the faulty GPU fails")
        await _fail(stage, job, NODE)
        await stage.pause(4)
        await remediate(stage, NODE)
        await stage.pause(8)


@incident("gpu-lost", nodes=3)
async def gpu_lost(stage: Stage) -> None:
    """A device plugin gives a GPU up; the Pod there finds no place again."""
    job = await the_job(stage.api, "llm-pretrain", 3)
    stage.expect(
        NODE,
        "degraded",
        "abrupt",
        fault="gpu-fault",
        at_most="likely",
        accept={"mode": ["unknown"]},
        unsure="allocatable says that a GPU is gone, and not why",
    )
    stage.hit(job, NODE, outcome="down")
    async with stage.recording():
        stage.did("gpu-lost", f"{NODE}: 7 of 8 GPUs are healthy")
        stage.machine(NODE).set_healthy_gpus(7)
        await stage.pause(5)
        stage.did("pod-failed", "the Pod on the lost GPU fails")
        await _fail(stage, job, NODE)
        await stage.pause(20)


@incident("link-flap", nodes=3)
async def link_flap(stage: Stage) -> None:
    """A link flaps on one node; the gang fails on the others first."""
    job = await the_job(stage.api, "llm-pretrain", 3)
    stage.imitated.append("NVSentinel (health monitor)")
    stage.expect(
        NODE,
        "degraded",
        "abrupt",
        fault="link-fault",
        at_most="proven",
        accept={"mode": ["unknown"]},
    )
    stage.hit(
        job,
        NODE,
        outcome="restarted",
        unsure="Pods on healthy nodes fail first; the fault is elsewhere",
    )
    async with (
        acting(stage, "platform-connectors") as monitor,
        stage.recording(),
    ):
        await _report_link(stage, monitor)
        await stage.pause(8)
        stage.did("first-pod", "the Pod on gpu-003 times out")
        await _fail(stage, job, "gpu-003", 134)
        await stage.pause(2)
        await _fail(stage, job, "gpu-001", 134)
        await stage.pause(2)
        await _fail(stage, job, NODE, 134)
        # A Job waits longer and longer before it makes Pods again.
        await stage.pause(55)


async def _report_link(stage: Stage, monitor: Controller) -> None:
    stage.did("fault", f"{NODE}: NVLink errors are reported")
    await monitor.condition(
        NODE,
        "GpuNvlinkWatch",
        "True",
        "GpuNvlinkWatchIsNotHealthy",
        "ErrorCode:DCGM_FR_NVLINK_DOWN GPU:5 NVLink 3 is down "
        "Recommended Action=COMPONENT_RESET;",
    )


@incident("out-of-memory", nodes=4)
async def out_of_memory(stage: Stage) -> None:
    """A machine dies while two others run out of memory, each its way."""
    job = await the_job(stage.api, "llm-pretrain", 2, nodes=(NODE, SPARE))
    hungry = await the_job(stage.api, "dataloader", 1, nodes=("gpu-001",))
    stage.imitated.append("the kubelet's Event SystemOOM on gpu-003")
    stage.expect(
        NODE,
        "reboot",
        "abrupt",
        boots=(1, 2),
        back=("boot", "end"),
        at_most="possible",
    )
    contained = stage.expect(
        "gpu-001",
        "degraded",
        "abrupt",
        fault="container-oom",
        at_most="proven",
        accept={"happened": [None], "mode": ["unknown"]},
        unsure="a container that met its own limit is no trouble of the "
        "node; whether it deserves a verdict is a matter of taste",
    )
    stage.expect(
        "gpu-003",
        "degraded",
        "abrupt",
        fault="system-oom",
        at_most="proven",
        accept={"mode": ["unknown"]},
    )
    stage.hit(job, NODE, outcome="restarted")
    own = stage.hit(
        hungry,
        "gpu-001",
        outcome="restarted",
        optional=True,
        unsure="it was killed for what it did itself",
    )
    stage.ask("gpu-001", contained, workloads=[own])
    async with acting(stage, "kubelet") as kubelet, stage.recording():
        node = {"apiVersion": "v1", "kind": "Node", "name": "gpu-003"}
        async with asyncio.TaskGroup() as group:
            group.create_task(stage.crash(NODE))
            group.create_task(_fail(stage, hungry, "gpu-001", 137))
            group.create_task(
                kubelet.event(
                    node,
                    "SystemOOM",
                    "System OOM encountered, victim process: python3, "
                    "pid: 23417",
                    kind="Warning",
                    host="gpu-003",
                )
            )
        stage.did("oom", "OOMKilled on gpu-001, SystemOOM on gpu-003")
        await stage.pause(20)
        await stage.boot(NODE)
        await stage.ready(NODE)
        await stage.pause(6)
