"""Decisions of users and controllers: reboots, drains, cordons, upgrades."""

from tests.corpus.acting import acting, kubectl_as
from tests.corpus.audit import AUDIT_OF_NODES
from tests.corpus.expecting import SOME_USER, a_controller
from tests.corpus.identities import ALICE
from tests.corpus.incident import incident
from tests.corpus.lifecycle import (
    LIFECYCLE,
    install_kured,
    kured_reboot,
    lifecycle_reboot,
    request_reboot,
)
from tests.corpus.placing import the_deployment, the_job
from tests.corpus.stage import Stage
from tests.corpus.truth import Actor

NODE = "gpu-002"
SPARE = "gpu-004"
KERNEL = "6.8.0-85-generic"

OWN = ("gpu-001", NODE, "gpu-003")

ALICE_HERSELF = Actor(kinds=["user"], name=ALICE)

DRAIN = ("drain", NODE, "--ignore-daemonsets", "--force",
         "--delete-emptydir-data")  # fmt: skip


async def _admin_request(stage: Stage, actor: Actor, at_most: str) -> None:
    job = await the_job(stage.api, "llm-pretrain", 3)
    stage.imitated.append(LIFECYCLE)
    stage.expect(
        NODE,
        "reboot",
        "planned",
        decision="admin-request",
        actor=actor,
        boots=(1, 2),
        back=("uncordon", "end"),
        at_most=at_most,
    )
    stage.hit(job, NODE, outcome="restarted")

    async def kubectl(*arguments: str) -> None:
        await kubectl_as(stage, ALICE, *arguments)

    async with acting(stage, LIFECYCLE) as lifecycle, stage.recording():
        await request_reboot(stage, kubectl, NODE)
        await stage.pause(3)
        await lifecycle_reboot(
            stage,
            lifecycle,
            NODE,
            reason="NLCCPendingExitProduction",
            phase="production-powerreset",
            off=18,
        )
        await stage.pause(8)


@incident("admin-request", nodes=3)
async def admin_request(stage: Stage) -> None:
    """A person asks for a reboot by a condition; nobody knows who."""
    await _admin_request(stage, SOME_USER, "likely")


@incident("admin-request-audited", nodes=3, audit_policy=AUDIT_OF_NODES)
async def admin_request_audited(stage: Stage) -> None:
    """A person asks for a reboot by a condition; audit knows who."""
    await _admin_request(stage, ALICE_HERSELF, "proven")


async def _drain(stage: Stage, actor: Actor) -> None:
    job = await the_job(stage.api, "llm-pretrain", 3, nodes=OWN)
    chat = await the_deployment(
        stage.api, "chat", 1, gpus=0, prefer=NODE, grace=1
    )
    stage.expect(
        NODE,
        "drained",
        "planned",
        decision="manual-drain",
        actor=actor,
        back_in_service=False,
        at_most="proven",
    )
    stage.hit(job, NODE, outcome="down", hit_by="drain")
    stage.hit(chat, NODE, outcome="rescheduled", hit_by="drain")
    async with stage.recording():
        stage.did("drain", f"{ALICE} drains {NODE}")
        await kubectl_as(stage, ALICE, *DRAIN)
        await stage.pause(20)


@incident("drain", nodes=3)
async def drain(stage: Stage) -> None:
    """Somebody drains a node, which stays cordoned."""
    await _drain(stage, SOME_USER)


@incident("drain-audited", nodes=3, audit_policy=AUDIT_OF_NODES)
async def drain_audited(stage: Stage) -> None:
    """Somebody drains a node, and audit knows who."""
    await _drain(stage, ALICE_HERSELF)


@incident("cordon", nodes=3)
async def cordon(stage: Stage) -> None:
    """Somebody cordons a node and, later, uncordons it."""
    job = await the_job(stage.api, "llm-pretrain", 3)
    stage.expect(
        NODE,
        "cordoned",
        "planned",
        decision="manual-drain",
        actor=SOME_USER,
        back=("uncordon", "end"),
        at_most="proven",
        accept={"decision": [None], "cause": ["unrecorded"]},
        unsure="no class of decision is only a cordon; signals.md files it "
        "with the manual drain",
    )
    stage.not_hit(job)
    async with stage.recording():
        stage.did("cordon", f"{ALICE} cordons {NODE}")
        await kubectl_as(stage, ALICE, "cordon", NODE)
        await stage.pause(20)
        stage.did("uncordon", f"{ALICE} uncordons {NODE}")
        await kubectl_as(stage, ALICE, "uncordon", NODE)
        await stage.pause(8)


@incident("drain-power-cycle", nodes=4)
async def drain_power_cycle(stage: Stage) -> None:
    """Somebody drains a node, cycles its power, and uncordons it."""
    job = await the_job(stage.api, "llm-pretrain", 2, nodes=(NODE, SPARE))
    spared = await the_job(stage.api, "eval", 1, nodes=("gpu-003",))
    stage.expect(
        NODE,
        "reboot",
        "planned",
        decision="manual-drain",
        actor=SOME_USER,
        boots=(1, 2),
        back=("uncordon", "end"),
        at_most="likely",
        unsure="the drain is recorded, the power cycle itself is not",
    )
    stage.hit(job, NODE, outcome="restarted", hit_by="drain")
    stage.not_hit(spared)
    async with stage.recording():
        stage.did("drain", f"{ALICE} drains {NODE}")
        await kubectl_as(stage, ALICE, *DRAIN)
        await stage.pause(11)
        await stage.power_cycle(NODE, 18, label="power-off")
        await stage.pause(5)
        stage.did("uncordon", f"{ALICE} uncordons {NODE}")
        await kubectl_as(stage, ALICE, "uncordon", NODE)
        await stage.pause(8)


@incident("kernel-upgrade", nodes=4)
async def kernel_upgrade(stage: Stage) -> None:
    """Kured reboots two nodes, one after the other, into a new kernel."""
    await install_kured(stage)
    may = ("gpu-001", SPARE)
    job = await the_job(
        stage.api, "llm-pretrain", 1, nodes=may, prefer="gpu-001"
    )
    stage.imitated.append("kured")
    for node in ("gpu-001", NODE):
        stage.expect(
            node,
            "reboot",
            "planned",
            decision="os-upgrade",
            actor=a_controller("kured"),
            boots=(1, 2),
            back=(f"uncordon {node}", "end"),
            at_most="proven",
        )
    stage.hit(job, "gpu-001", outcome="rescheduled", hit_by="drain")
    stage.not_hit("DaemonSet/kube-system/kured")
    user = "system:serviceaccount:kube-system:kured"
    async with acting(stage, "kured", user) as kured, stage.recording():
        for node in ("gpu-001", NODE):
            await kured_reboot(stage, kured, node, kernel=KERNEL, off=6)
        await stage.pause(6)


@incident("driver-upgrade", nodes=3)
async def driver_upgrade(stage: Stage) -> None:
    """The GPU operator upgrades a driver: cordon, drain, no reboot."""
    label = "nvidia.com/gpu-driver-upgrade-state"
    job = await the_job(
        stage.api, "llm-pretrain", 1, nodes=(NODE, "gpu-003"), prefer=NODE
    )
    stage.imitated.append("gpu-operator (driver upgrade)")
    stage.expect(
        NODE,
        "drained",
        "planned",
        decision="driver-upgrade",
        actor=a_controller("gpu-operator"),
        back=("uncordon", "end"),
        at_most="proven",
    )
    stage.hit(job, NODE, outcome="rescheduled", hit_by="drain")
    async with acting(stage, "gpu-operator") as operator:

        async def state(name: str) -> None:
            stage.did(name, f"gpu-operator: {NODE} is {name}")
            await operator.mark(NODE, labels={label: name})
            await stage.pause(1)

        async with stage.recording():
            await state("upgrade-required")
            await state("cordon-required")
            await operator.mark(NODE, unschedulable=True)
            await state("wait-for-jobs-required")
            await state("drain-required")
            await operator.evict_all(NODE)
            await state("pod-restart-required")
            stage.machine(NODE).set_healthy_gpus(0)
            await stage.pause(8)
            stage.machine(NODE).set_healthy_gpus(8)
            await stage.pause(6)
            await state("validation-required")
            await state("uncordon-required")
            stage.did("uncordon", f"gpu-operator uncordons {NODE}")
            await operator.mark(NODE, unschedulable=False)
            await state("upgrade-done")
            await stage.pause(6)
