"""Nodes that are silent or gone, and come back or do not, unrebooted."""

from tests.corpus.acting import kubectl_as
from tests.corpus.expecting import SOME_USER
from tests.corpus.identities import ALICE, boot_id, machine_identity
from tests.corpus.incident import incident
from tests.corpus.partition import cut_off
from tests.corpus.placing import the_deployment, the_job
from tests.corpus.stage import Stage

NODE = "gpu-002"

HELD = "its Pods went on: it is hit only in that its node was"


@incident("kubelet-restart", nodes=3)
async def kubelet_restart(stage: Stage) -> None:
    """A kubelet is killed and starts again; the machine goes on."""
    job = await the_job(stage.api, "llm-pretrain", 3)
    stage.expect(
        NODE,
        "kubelet-restart",
        "abrupt",
        fault="kubelet-failure",
        at_most="proven",
        accept={"mode": ["unknown"]},
        unsure="a restart by hand on the machine would look the same",
    )
    stage.hit(job, NODE, outcome="survived", optional=True, unsure=HELD)
    async with stage.recording():
        stage.did("restart", f"the kubelet of {NODE} is killed and started")
        await stage.machine(NODE).restart_kubelet()
        await stage.pause(20)


@incident("kubelet-down", nodes=3, toleration_seconds=300)
async def kubelet_down(stage: Stage) -> None:
    """A kubelet is down until its node is Unknown, then starts again."""
    job = await the_job(stage.api, "llm-pretrain", 3)
    stage.expect(
        NODE,
        "kubelet-restart",
        "abrupt",
        fault="kubelet-failure",
        back=("started", "end"),
        at_most="proven",
        accept={"mode": ["unknown"], "happened": ["unreachable"]},
        unsure="it was unreachable as well; why the kubelet went is unknown",
    )
    stage.hit(job, NODE, outcome="survived", optional=True, unsure=HELD)
    async with stage.recording():
        machine = stage.machine(NODE)
        stage.did("killed", f"the kubelet of {NODE} is killed")
        await machine.kubelet.kill()
        await stage.is_unknown(NODE)
        await stage.pause(5)
        stage.did("started", f"the kubelet of {NODE} is started")
        await machine.restart_kubelet()
        await stage.ready(NODE)
        await stage.pause(6)


@incident("hang", nodes=3, toleration_seconds=300)
async def hang(stage: Stage) -> None:
    """A kubelet hangs and goes on: same boot, no start, Pods unharmed."""
    job = await the_job(stage.api, "llm-pretrain", 3)
    stage.expect(
        NODE,
        "unreachable",
        "abrupt",
        fault="network-partition",
        back=("resume", "end"),
        at_most="likely",
        accept={"fault": [None], "cause": ["unrecorded"]},
        unsure="the kubelet was stopped and went on; to the control plane "
        "that is a partition, and no record tells the two apart",
    )
    stage.hit(job, NODE, outcome="survived", optional=True, unsure=HELD)
    async with stage.recording():
        stage.did("hang", f"{NODE}: SIGSTOP to the kubelet")
        stage.machine(NODE).hang()
        await stage.is_unknown(NODE)
        await stage.pause(8)
        stage.did("resume", f"{NODE}: SIGCONT to the kubelet")
        stage.machine(NODE).resume()
        await stage.ready(NODE)
        await stage.pause(8)


@incident("network-partition", nodes=4)
async def network_partition(stage: Stage) -> None:
    """A node is cut off from the API server; its Pod is given up."""
    job = await the_job(
        stage.api, "llm-pretrain", 3, nodes=("gpu-001", NODE, "gpu-003")
    )
    stage.expect(
        NODE,
        "unreachable",
        "abrupt",
        fault="network-partition",
        back=("healed", "end"),
        at_most="likely",
    )
    stage.hit(job, NODE, outcome="restarted")
    async with cut_off(stage, NODE) as wire, stage.recording():
        stage.did("cut", f"{NODE} cannot reach the API server")
        wire.cut()
        await stage.is_unknown(NODE)
        await stage.pause(14)
        stage.did("healed", f"{NODE} can reach the API server again")
        wire.mend()
        await stage.ready(NODE)
        await stage.pause(12)


@incident("rejoined", nodes=3, toleration_seconds=300)
async def rejoined(stage: Stage) -> None:
    """A Node is deleted, and the same machine registers it anew."""
    job = await the_job(stage.api, "llm-pretrain", 3)
    stage.expect(
        NODE,
        "rejoined",
        "planned",
        decision="node-deletion",
        actor=SOME_USER,
        back=("registered", "end"),
        at_most="proven",
    )
    stage.hit(
        job,
        NODE,
        outcome="survived",
        optional=True,
        unsure="the Pod is taken over by the new Node of the same name",
    )
    async with stage.recording():
        stage.did("deleted", f"{ALICE} deletes the Node {NODE}")
        await kubectl_as(stage, ALICE, "delete", "node", NODE)
        await stage.pause(6)
        stage.did("registered", f"the kubelet of {NODE} registers anew")
        await stage.machine(NODE).restart_kubelet()
        await stage.ready(NODE)
        await stage.pause(12)


@incident("replaced", nodes=3, toleration_seconds=300)
async def replaced(stage: Stage) -> None:
    """A Node is deleted, and another machine takes its name."""
    job = await the_job(stage.api, "llm-pretrain", 3)
    stage.expect(
        NODE,
        "replaced",
        "planned",
        decision="node-deletion",
        actor=SOME_USER,
        boots=(1, 2),
        back=("registered", "end"),
        at_most="proven",
    )
    stage.hit(
        job,
        NODE,
        outcome="restarted",
        accept={"outcome": ["rescheduled"]},
        unsure="the lost Pod came back on a node of the same name",
    )
    async with stage.recording():
        stage.did("deleted", f"{ALICE} deletes the Node {NODE}")
        await kubectl_as(stage, ALICE, "delete", "node", NODE)
        await stage.crash(NODE, label="power-off")
        await stage.pause(8)
        machine = stage.machine(NODE)
        identity = machine_identity(stage.name, "another machine")
        machine.kubelet.flags["machine-id"] = identity.hex
        machine.kubelet.flags["system-uuid"] = str(identity)
        machine.kubelet.flags["provider-id"] = "metal://another-machine"
        stage.did("registered", f"another machine registers as {NODE}")
        await machine.boot(boot_id(stage.name, NODE, 2))
        await stage.ready(NODE)
        await stage.pause(12)


@incident("control-plane-outage", nodes=4, toleration_seconds=300)
async def control_plane_outage(stage: Stage) -> None:
    """The control plane freezes, and gives all nodes up as it goes on."""
    job = await the_job(stage.api, "llm-pretrain", 3)
    for spec in stage.cluster.options.machines:
        stage.expect(
            spec.name,
            "unreachable",
            "abrupt",
            fault="control-plane-outage",
            back=("resumed", "end"),
            at_most="proven",
        )
    stage.hit(
        job, *sorted(job.pods.values()), outcome="survived", optional=True,
        unsure=HELD,
        # All turn Unknown at once: nothing shows which was the first.
        accept={"first_node": sorted(set(job.pods.values()))},
    )  # fmt: skip
    async with stage.recording():
        stage.did("paused", "API server and controllers stop as they are")
        cluster = stage.cluster
        controllers = (cluster.controller_manager, cluster.scheduler)
        for part in (cluster.api_server, *controllers):
            part.pause()
        await stage.pause(32)
        stage.did("resumed", "the controllers and the API server go on")
        for part in controllers:
            part.resume()
        # They judge all nodes by what they know before anything new comes.
        await stage.pause(1)
        cluster.api_server.resume()
        await stage.pause(4)
        await stage.ready(*stage.cluster.machines)
        await stage.pause(10)


@incident("controller-manager-restart", nodes=3)
async def controller_manager_restart(stage: Stage) -> None:
    """The controller manager restarts and registers every node again."""
    job = await the_job(stage.api, "llm-pretrain", 3)
    api = await the_deployment(stage.api, "chat", 1, gpus=0)
    stage.not_hit(job, api)
    async with stage.recording():
        stage.did("restart", "the controller manager is killed and started")
        await stage.cluster.controller_manager.restart()
        await stage.pause(20)


@incident("crash-in-gap", nodes=3)
async def crash_in_gap(stage: Stage) -> None:
    """A machine reboots while nobody records; the history is compacted."""
    job = await the_job(stage.api, "llm-pretrain", 3)
    stage.expect(
        NODE,
        "reboot",
        "unknown",
        boots=(1, 2),
        back=("boot", "end"),
        at_most="possible",
        unsure="what decided it may have come and gone within the gap",
    )
    stage.hit(
        job,
        NODE,
        outcome="restarted",
        accept={"outcome": ["unknown"]},
        unsure="the relist shows the Pod that failed and the one after it",
    )
    async with stage.recording():
        await stage.pause(4)
        await stage.stop_recorder()
        stage.did("stopped", "the recorder is stopped")
        await stage.pause(2)
        await stage.power_cycle(NODE, 2)
        await stage.pause(18)
        stage.did("compacted", "etcd is compacted, the API server restarted")
        await stage.cluster.compact()
        await stage.cluster.api_server.restart()
        await stage.ready(*stage.cluster.machines)
        await stage.start_recorder()
        stage.did("started", "the recorder is started again")
        await stage.pause(8)
