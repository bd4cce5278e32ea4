"""The provider announces that it takes a machine, for good or for a while."""

import json

from tests.corpus.acting import Controller, acting, moment
from tests.corpus.incident import incident
from tests.corpus.placing import the_job
from tests.corpus.stage import Stage

NODE = "gpu-002"


@incident("spot-interruption", nodes=3)
async def spot_interruption(stage: Stage) -> None:
    """The provider takes a spot machine back, after a notice."""
    job = await the_job(
        stage.api, "llm-pretrain", 1, nodes=(NODE, "gpu-003"), prefer=NODE
    )
    stage.imitated += ["aws-node-termination-handler", "cloud-provider"]
    stage.expect(
        NODE,
        "removed",
        "planned",
        decision="host-maintenance",
        actor={"kinds": ["cloud", "controller"]},
        boots=(1, None),
        back_in_service=False,
        at_most="proven",
        accept={"decision": ["preemption"], "cause": ["preemption"]},
        unsure="spot preemption and maintenance are one class in signals.md",
    )
    stage.hit(job, NODE, outcome="rescheduled", hit_by="drain")
    async with (
        acting(stage, "aws-node-termination-handler") as handler,
        stage.recording(),
    ):
        await _interrupt(stage, handler)
        stage.did("power-off", f"{NODE} is taken away")
        await stage.machine(NODE).crash()
        user = "system:serviceaccount:kube-system:cloud-node-lifecycle"
        cloud_node = "cloud-node-lifecycle-controller"
        async with acting(stage, cloud_node, user) as cloud:
            await stage.pause(3)
            await cloud.event(
                await cloud.node_reference(NODE),
                "DeletingNode",
                f"Deleting node {NODE} because it does not exist in the "
                "cloud provider",
            )
            await cloud.delete(f"/api/v1/nodes/{NODE}")
        stage.did("deleted", f"the Node {NODE} is deleted")
        await stage.pause(10)


async def _interrupt(stage: Stage, handler: Controller) -> None:
    stage.did("notice", f"a spot interruption of {NODE} is announced")
    await handler.event(
        await handler.node_reference(NODE),
        "SpotInterruption",
        f"Spot ITN received. Instance will be interrupted at {moment()}",
        kind="Warning",
        host=NODE,
    )
    await handler.taint(
        NODE, "aws-node-termination-handler/spot-itn", "1", "NoSchedule"
    )
    await handler.mark(
        NODE,
        labels={"aws-node-termination-handler/action": "cordon-and-drain"},
        unschedulable=True,
    )
    await handler.evict_all(NODE)
    await handler.event(
        await handler.node_reference(NODE),
        "CordonAndDrain",
        "Node successfully cordoned and drained",
        host=NODE,
    )
    await stage.pause(5)


@incident("scheduled-maintenance", nodes=3)
async def scheduled_maintenance(stage: Stage) -> None:
    """The provider reboots a host, after a notice; the node returns."""
    job = await the_job(
        stage.api, "llm-pretrain", 1, nodes=(NODE, "gpu-003"), prefer=NODE
    )
    stage.imitated.append("aws-node-termination-handler")
    stage.expect(
        NODE,
        "reboot",
        "planned",
        decision="host-maintenance",
        actor={"kinds": ["cloud", "controller"]},
        boots=(1, 2),
        back=("uncordon", "end"),
        at_most="proven",
    )
    stage.hit(job, NODE, outcome="rescheduled", hit_by="drain")
    key = "aws-node-termination-handler/scheduled-maintenance"
    action = "aws-node-termination-handler/action"
    async with (
        acting(stage, "aws-node-termination-handler") as handler,
        stage.recording(),
    ):
        stage.did("notice", f"a reboot of {NODE} is announced")
        await handler.event(
            await handler.node_reference(NODE),
            "ScheduledEvent",
            "Instance will undergo system-reboot: "
            + json.dumps({"Code": "system-reboot", "State": "active"}),
            kind="Warning",
            host=NODE,
        )
        await handler.taint(NODE, key, "system-reboot", "NoSchedule")
        await handler.mark(
            NODE, labels={action: "UncordonAfterReboot"},
            unschedulable=True,
        )  # fmt: skip
        await handler.evict_all(NODE)
        await stage.pause(11)
        await stage.power_cycle(NODE, 18, label="power-off")
        await stage.pause(2)
        stage.did("uncordon", f"the handler uncordons {NODE}")
        await handler.untaint(NODE, key)
        await handler.mark(NODE, labels={action: None}, unschedulable=False)
        await stage.pause(6)
