"""Incidents that resemble others: one trace distinguishes each."""

from contextlib import AsyncExitStack

from tests.cluster.machines import MachineSpec
from tests.corpus.acting import Controller, acting, kubectl_as
from tests.corpus.expecting import SOME_USER, a_controller
from tests.corpus.identities import ALICE, RACK, boot_id, machine_identity
from tests.corpus.incident import incident
from tests.corpus.partition import cut_off
from tests.corpus.placing import the_job
from tests.corpus.stage import Stage
from tests.corpus.truth import NodeFacts

NODE = "gpu-002"

MCO = "machineconfiguration.openshift.io"

OLD_CONFIG, NEW_CONFIG = "rendered-worker-5a1f", "rendered-worker-9c3e"


@incident("rack-partition", nodes=4, racks=2)
async def rack_partition(stage: Stage) -> None:
    """A rack is cut off and heals: as a loss of power, but the same boots."""
    cut = (NODE, "gpu-004")
    job = await the_job(stage.api, "llm-pretrain", 4)
    for node in cut:
        stage.expect(
            node,
            "unreachable",
            "abrupt",
            fault="network-partition",
            back=("healed", "end"),
            at_most="likely",
        )
    stage.hit(
        job,
        *cut,
        outcome="restarted",
        accept={"first_node": ["gpu-004"]},
        unsure="both nodes were lost at once: either may be the first",
    )
    async with AsyncExitStack() as stack:
        wires = [
            await stack.enter_async_context(cut_off(stage, node))
            for node in cut
        ]
        async with stage.recording():
            stage.did("cut", f"{', '.join(cut)}: the rack's switch is down")
            for wire in wires:
                wire.cut()
            await stage.is_unknown(*cut)
            await stage.pause(14)
            stage.did("healed", "the rack's switch is up again")
            for wire in wires:
                wire.mend()
            await stage.ready(*cut)
            await stage.pause(15)


@incident("machine-config", nodes=3)
async def machine_config(stage: Stage) -> None:
    """The machine config daemon reboots a node into another image."""
    job = await the_job(
        stage.api, "llm-pretrain", 1, nodes=(NODE, "gpu-003"), prefer=NODE
    )
    stage.imitated.append("machine-config-operator")
    stage.expect(
        NODE,
        "reboot",
        "planned",
        decision="os-upgrade",
        actor=a_controller("machine-config-daemon"),
        boots=(1, 2),
        back=("uncordon", "end"),
        at_most="proven",
        accept={"actor": [None]},
    )
    stage.hit(job, NODE, outcome="rescheduled", hit_by="drain")
    async with (
        acting(stage, "machine-config-daemon") as daemon,
        stage.recording(),
    ):
        stage.did("cordon", f"{NODE} is to get another configuration")
        await _configure(daemon, "Working", current=OLD_CONFIG)
        await _say(daemon, "Cordon", "Cordoned node to apply update")
        await daemon.mark(NODE, unschedulable=True)
        await _say(daemon, "Drain", "Draining node to update config.")
        await daemon.evict_all(NODE)
        await _say(daemon, "OSUpdateStarted", "Changing kernel arguments")
        await stage.pause(2)
        await _say(
            daemon, "Reboot", f"Node will reboot into config {NEW_CONFIG}"
        )
        await _configure(daemon, "Rebooting", current=OLD_CONFIG)
        await stage.crash(NODE, label="power-off")
        await stage.pause(8)
        image = "Red Hat Enterprise Linux CoreOS 420.94.202611180412-0"
        stage.machine(NODE).kubelet.flags["os-image"] = image
        await stage.boot(NODE, kernel="5.14.0-570.60.1.el9_6.x86_64")
        await stage.ready(NODE)
        await stage.pause(2)
        await _configure(daemon, "Done", current=NEW_CONFIG)
        await _say(
            daemon,
            "NodeDone",
            f"Setting node {NODE}, currentConfig {NEW_CONFIG} to Done",
        )
        stage.did("uncordon", f"the daemon uncordons {NODE}")
        await daemon.mark(NODE, unschedulable=False)
        await _say(daemon, "Uncordon", f"Update completed for {NEW_CONFIG}")
        await stage.pause(6)


async def _configure(daemon: Controller, state: str, *, current: str) -> None:
    annotations = {
        f"{MCO}/currentConfig": current,
        f"{MCO}/desiredConfig": NEW_CONFIG,
        f"{MCO}/state": state,
    }
    await daemon.mark(NODE, annotations=annotations)


async def _say(daemon: Controller, reason: str, message: str) -> None:
    node = await daemon.node_reference(NODE)
    await daemon.event(
        node, reason, message, component="machineconfigdaemon", host=NODE
    )


@incident("gpu-not-ready", nodes=3)
async def gpu_not_ready(stage: Stage) -> None:
    """A condition that is good when True turns False: a GPU is lost."""
    job = await the_job(stage.api, "llm-pretrain", 3)
    stage.imitated.append("eks-node-monitoring-agent")
    stage.expect(
        NODE,
        "degraded",
        "abrupt",
        fault="gpu-fault",
        at_most="proven",
        accept={"mode": ["unknown"]},
    )
    stage.hit(job, NODE, outcome="restarted")
    kind = "AcceleratedHardwareReady"
    async with acting(stage, "eks-node-monitoring-agent") as agent:
        for node in stage.cluster.machines:
            await agent.condition(
                node, kind, "True", "NvidiaGPUIsReady", "GPUs are ready"
            )
        async with stage.recording():
            stage.did("fault", f"{NODE}: a GPU has fallen off the bus")
            says = "NVRM: Xid (PCI:0000:b3:00.0): 79, GPU has fallen off"
            await agent.condition(
                NODE, kind, "False", "NvidiaXID79Error", says
            )
            await agent.event(
                await agent.node_reference(NODE),
                kind,
                f"NvidiaXID79Error: {says}",
                kind="Warning",
                host=NODE,
            )
            await stage.pause(4)
            stage.did("pod-failed", "the Pod on the faulty GPU fails")
            pod = job.on(NODE)
            await stage.machine(NODE).fail_pod("train", pod, 1)
            await stage.pause(22)


@incident("node-joins", nodes=2)
async def node_joins(stage: Stage) -> None:
    """A new machine registers: RegisteredNode, and this time it is one."""
    job = await the_job(stage.api, "llm-pretrain", 2)
    new = "gpu-003"
    identity = machine_identity(stage.name, new)
    stage.nodes.append(NodeFacts(name=new, rack="rack-3", gpus=8))
    stage.expect(
        new,
        "joined",
        "unknown",
        boots=(None, 1),
        back=("registered", "end"),
        at_most="proven",
        accept={
            "mode": ["abrupt", "planned"],
            "back_in_service": [None],
        },
        unsure="nobody asked for it on the tape, and nothing broke",
    )
    stage.not_hit(job)
    spec = MachineSpec(
        name=new,
        boot_id=boot_id(stage.name, new, 1),
        machine_id=identity.hex,
        system_uuid=str(identity),
        labels={RACK: "rack-3"},
        status_every="3s",
    )
    async with stage.recording():
        stage.did("registered", f"{new} is switched on for the first time")
        await stage.cluster.add_machine(spec)
        await stage.pause(12)


@incident("node-removed", nodes=3)
async def node_removed(stage: Stage) -> None:
    """Somebody switches a machine off and deletes its Node for good."""
    job = await the_job(
        stage.api, "llm-pretrain", 1, nodes=(NODE, "gpu-003"), prefer=NODE
    )
    stage.expect(
        NODE,
        "removed",
        "planned",
        decision="node-deletion",
        actor=SOME_USER,
        boots=(1, None),
        back_in_service=False,
        at_most="proven",
    )
    stage.hit(job, NODE, outcome="rescheduled")
    async with stage.recording():
        stage.did("deleted", f"{ALICE} deletes the Node {NODE}")
        await kubectl_as(stage, ALICE, "delete", "node", NODE)
        await stage.crash(NODE, label="power-off")
        # The Pods of a Node that is gone are collected after 40 seconds.
        await stage.is_gone(f"/api/v1/namespaces/train/pods/{job.on(NODE)}")
        await stage.pause(18)
