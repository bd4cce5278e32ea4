"""Nodes that die or restart without a request."""

import asyncio

from tests.corpus.acting import acting, kubectl_as
from tests.corpus.expecting import SOME_USER
from tests.corpus.identities import ALICE
from tests.corpus.incident import incident
from tests.corpus.lifecycle import (
    LIFECYCLE,
    detect,
    lifecycle_reboot,
    request_reboot,
)
from tests.corpus.placing import Placed, the_job
from tests.corpus.stage import Stage

NODE = "gpu-002"

ANONYMOUS = "an abrupt reboot without pstore, kdump or BMC records"


def _abrupt(stage: Stage, back: tuple[str, str] = ("boot", "end")) -> str:
    return stage.expect(
        NODE,
        "reboot",
        "abrupt",
        boots=(1, 2),
        back=back,
        at_most="possible",
        unsure=f"{ANONYMOUS}: what is doubtful is the cause, not the reboot",
    )


async def _crash_and_return(stage: Stage, off: float) -> None:
    await stage.power_cycle(NODE, off)
    await stage.pause(8)


@incident("crash", nodes=3)
async def crash(stage: Stage) -> None:
    """A machine dies, its Pod is evicted, and it comes back by itself."""
    job = await the_job(stage.api, "llm-pretrain", 3)
    _abrupt(stage)
    stage.hit(job, NODE, outcome="restarted")
    async with stage.recording():
        await _crash_and_return(stage, 28)


@incident("fast-reboot", nodes=3)
async def fast_reboot(stage: Stage) -> None:
    """A machine reboots so fast that its node never turns NotReady."""
    job = await the_job(stage.api, "llm-pretrain", 3)
    _abrupt(stage)
    stage.hit(job, NODE, outcome="restarted")
    async with stage.recording():
        await _crash_and_return(stage, 2)


@incident("crash-job-fails", nodes=3)
async def crash_job_fails(stage: Stage) -> None:
    """A machine dies under a Job without retries, which fails for good."""
    job = await the_job(stage.api, "llm-finetune", 2, retries=0)
    (node,) = {"gpu-001", "gpu-002", "gpu-003"} - set(job.pods.values())
    lost = next(on for on in job.pods.values() if on != node)
    stage.expect(
        lost,
        "reboot",
        "abrupt",
        boots=(1, 2),
        back=("boot", "end"),
        at_most="possible",
        unsure=ANONYMOUS,
    )
    stage.hit(job, lost, outcome="failed")
    async with stage.recording():
        await stage.power_cycle(lost, 20)
        await stage.pause(5)


@incident("lost-rebooted-event", nodes=2, without_events=("Rebooted",))
async def lost_rebooted_event(stage: Stage) -> None:
    """A machine reboots, and the Event that says so is lost."""
    job = await the_job(stage.api, "llm-pretrain", 2)
    stage.edited.append("the Events with the reason Rebooted were removed")
    _abrupt(stage)
    stage.hit(job, NODE, outcome="restarted")
    async with stage.recording():
        await _crash_and_return(stage, 20)


@incident("kernel-panic", nodes=2)
async def kernel_panic(stage: Stage) -> None:
    """A kernel panics, and its crash dump is found after the boot."""
    job = await the_job(stage.api, "llm-pretrain", 2)
    stage.imitated.append("abrt-adaptor of node-problem-detector")
    stage.expect(
        NODE,
        "reboot",
        "abrupt",
        fault="kernel-panic",
        boots=(1, 2),
        back=("boot", "end"),
        at_most="proven",
    )
    stage.hit(job, NODE, outcome="restarted")
    async with (
        acting(stage, "node-problem-detector") as detector,
        stage.recording(),
    ):
        await stage.crash(NODE)
        await stage.pause(20)
        await stage.boot(NODE)
        await stage.pause(2)
        await detector.event(
            await detector.node_reference(NODE),
            "VMcore",
            "System encountered a fatal error in kernel: Kernel panic - "
            "not syncing: Fatal exception in interrupt",
            kind="Warning",
            component="abrt-adaptor",
            host=NODE,
        )
        stage.did("vmcore", "the detector finds a crash dump")
        await stage.ready(NODE)
        await stage.pause(5)


@incident("fault-long-cleared", nodes=2)
async def fault_long_cleared(stage: Stage) -> None:
    """A fault is detected and goes away; much later the machine dies."""
    job = await the_job(stage.api, "llm-pretrain", 2)
    stage.imitated.append("node-problem-detector")
    first = stage.expect(
        NODE,
        "degraded",
        "abrupt",
        fault="hung-kernel",
        at_most="proven",
        accept={"mode": ["unknown"]},
    )
    second = stage.expect(
        NODE,
        "reboot",
        "abrupt",
        boots=(1, 2),
        back=("boot", "end"),
        at_most="possible",
        unsure="the fault was gone for a minute: it is a candidate at best",
    )
    hit = stage.hit(job, NODE, outcome="restarted")
    stage.ask(NODE, first, until="cleared")
    stage.ask(NODE, second, since="quiet", workloads=[hit])
    stage.ask(NODE, first, second, workloads=[hit])
    async with (
        acting(stage, "node-problem-detector") as detector,
        stage.recording(),
    ):
        stage.did("fault", "the detector sets KernelDeadlock")
        await detect(detector, NODE)
        await stage.pause(6)
        await detect(detector, NODE, deadlock=False)
        await stage.pause(2)
        stage.did("cleared", "the detector had cleared KernelDeadlock")
        await stage.pause(50)
        stage.did("quiet", "the fault was gone for long")
        await stage.pause(10)
        await _crash_and_return(stage, 18)


@incident("two-reboots", nodes=2)
async def two_reboots(stage: Stage) -> None:
    """A machine dies; later somebody asks for another reboot of it."""
    job = await the_job(stage.api, "llm-pretrain", 2)
    stage.imitated.append(LIFECYCLE)
    first = _abrupt(stage, back=("boot-2", "request"))
    second = stage.expect(
        NODE,
        "reboot",
        "planned",
        decision="admin-request",
        actor=SOME_USER,
        boots=(2, 3),
        back=("uncordon", "end"),
        at_most="likely",
    )
    hit = stage.hit(
        job,
        NODE,
        outcome="restarted",
        replacements=True,
        unsure="the Pod of the second loss is a replacement of the first",
    )
    stage.ask(NODE, first, second, workloads=[hit])
    stage.ask(NODE, first, until="between", workloads=[hit])
    stage.ask(NODE, second, since="between", workloads=[hit])
    async with acting(stage, LIFECYCLE) as lifecycle, stage.recording():
        await stage.crash(NODE)
        await stage.pause(18)
        await stage.boot(NODE, 2, label="boot-2")
        await stage.ready(NODE)
        await stage.pause(15)
        stage.did("between", "the node has been back for a while")
        await stage.pause(1)
        await request_reboot(
            stage, lambda *a: kubectl_as(stage, ALICE, *a), NODE
        )
        await stage.pause(3)
        await lifecycle_reboot(
            stage,
            lifecycle,
            NODE,
            reason="NLCCPendingExitProduction",
            phase="production-powerreset",
            off=6,
            number=3,
        )
        # A Job waits longer before it makes the same Pod a second time.
        await stage.pause(30)


async def _fail(stage: Stage, job: Placed, node: str) -> None:
    await stage.machine(node).fail_pod(job.namespace, job.on(node), 1)


@incident("other-job-failed", nodes=4)
async def other_job_failed(stage: Stage) -> None:
    """A machine dies; at that moment a Job elsewhere fails by itself."""
    mine = ("gpu-001", "gpu-002")
    job = await the_job(stage.api, "llm-pretrain", 2, nodes=mine)
    other = await the_job(
        stage.api, "eval-suite", 1, nodes=("gpu-003",), retries=0
    )
    _abrupt(stage)
    stage.hit(job, NODE, outcome="restarted")
    stage.not_hit(other)
    async with stage.recording():
        async with asyncio.TaskGroup() as group:
            group.create_task(stage.crash(NODE))
            group.create_task(_fail(stage, other, "gpu-003"))
        stage.did("job-failed", "train/eval-suite fails by itself")
        await stage.pause(20)
        await stage.boot(NODE)
        await stage.ready(NODE)
        await stage.pause(6)


@incident("job-left-before", nodes=3)
async def job_left_before(stage: Stage) -> None:
    """A Job completes on a node, which dies half a minute later."""
    left = await the_job(stage.api, "tokenize", 1, gpus=0, nodes=(NODE,))
    job = await the_job(stage.api, "llm-pretrain", 3)
    _abrupt(stage)
    stage.hit(job, NODE, outcome="restarted")
    stage.not_hit(left)
    async with stage.recording():
        stage.did("completed", "train/tokenize ends well")
        await stage.machine(NODE).finish_pod("train", left.on(NODE))
        await stage.pause(25)
        await _crash_and_return(stage, 18)
