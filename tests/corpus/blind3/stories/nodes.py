"""Stories in which a node goes down or away.

Users, field managers, keys, reasons and the order of calls are those of the
source that the incident's truth cites.
"""

from tests.corpus.acting import kubectl_as
from tests.corpus.blind.acts import die_and_boot, power_cycle, the_statefulset
from tests.corpus.blind.gangs import custom
from tests.corpus.blind.stage import BlindStage, story, wait_running, writer
from tests.corpus.placing import the_deployment, the_job

__all__: list[str] = []

JOB = "batch.kubernetes.io/job-name"
CLOUD = "system:serviceaccount:kube-system:cloud-node-lifecycle"


async def _collect(stage: BlindStage, node: str) -> None:
    """Let the cloud's controller delete the Node of a gone instance."""
    manager = "cloud-controller-manager"
    async with writer(stage, manager, CLOUD) as removing:
        await removing.event(
            await removing.node_reference(node),
            "DeletingNode",
            f"Deleting node {node} because it does not exist in the cloud "
            "provider",
            component="cloud-node-lifecycle-controller",
        )
        stage.did("removed", f"the cloud's controller deletes the Node {node}")
        await removing.delete(f"/api/v1/nodes/{node}")


@story("d01_zalando_replaces_spot", "zl-1", "zl-2")
async def zalando(stage: BlindStage) -> None:
    """Label, taint, cordon and drain a node, and terminate its instance."""
    await the_deployment(
        stage.api, "catalog", 1, gpus=4, nodes=("zl-1", "zl-2"), prefer="zl-2"
    )
    name = "cluster-lifecycle-manager"
    async with stage.recording(), writer(stage, name, name) as acting:
        stage.did("label", "zl-2 is to be decommissioned")
        await acting.mark(
            "zl-2", labels={"lifecycle-status": "decommission-pending"}
        )
        key = "decommission-pending"
        await acting.taint("zl-2", key, "rolling-upgrade", "NoSchedule")
        await stage.pause(3)
        stage.did("drain", "the manager drains zl-2")
        await acting.mark(
            "zl-2", labels={"lifecycle-status": "draining"}, unschedulable=True
        )
        await acting.evict_all("zl-2")
        await stage.pause(3)
        await stage.crash("zl-2", label="off")
        await stage.pause(6)
        await _collect(stage, "zl-2")
        await wait_running(stage, "serve", "app=catalog", 1)
        await stage.pause(6)


@story("d02_sap_maintenance", "sm-1", "sm-2")
async def sap(stage: BlindStage) -> None:
    """Maintain a node as its profile says."""
    await the_job(stage.api, "sam", 2, nodes=("sm-1", "sm-2"))
    state, data = "cloud.sap/maintenance-state", "cloud.sap/maintenance-data"
    name = "maintenance-controller"
    user = f"system:serviceaccount:kube-system:{name}"
    async with stage.recording(), writer(stage, name, user) as acting:
        stage.did("required", "the controller finds that sm-2 needs it")
        await acting.mark(
            "sm-2",
            labels={state: "maintenance-required"},
            annotations={data: '{"ProfileStates":{"flatcar":"required"}}'},
        )
        await stage.pause(3)
        stage.did("cordon", "the controller cordons and drains sm-2")
        await acting.mark(
            "sm-2",
            labels={state: "in-maintenance"},
            annotations={data: '{"ProfileStates":{"flatcar":"in"}}'},
        )
        await acting.mark("sm-2", unschedulable=True)
        await acting.evict_all("sm-2")
        await stage.pause(3)
        await power_cycle(stage, "sm-2")
        await stage.pause(3)
        stage.did("uncordon", "the controller uncordons sm-2")
        await acting.mark("sm-2", unschedulable=False)
        await acting.mark("sm-2", labels={state: "operational"})
        await wait_running(stage, "train", f"{JOB}=sam", 2)
        await stage.pause(3)


@story("d03_governor_reaps", "gr-1", "gr-2", audit=True)
async def governor(stage: BlindStage) -> None:
    """Drain an old node with kubectl, and terminate its instance."""
    await the_statefulset(
        stage, "db", "weaviate", gpus=2, nodes=("gr-1", "gr-2"), prefer="gr-2"
    )
    user = "system:serviceaccount:governor:node-reaper"
    key = "governor.keikoproj.io/state"
    drain = ("drain", "gr-2", "--ignore-daemonsets=true", "--force",
             "--grace-period=-1")  # fmt: skip
    async with stage.recording(), writer(stage, "governor", user) as acting:
        stage.did("draining", "the reaper drains gr-2")
        await acting.mark("gr-2", annotations={key: "draining"})
        await kubectl_as(stage, user, *drain)
        await stage.pause(3)
        await stage.crash("gr-2", label="off")
        await acting.mark("gr-2", annotations={key: "termination-issued"})
        await stage.pause(6)
        await _collect(stage, "gr-2")
        await wait_running(stage, "db", "app=weaviate", 1)
        await stage.pause(6)


@story("d04_chaosmesh_by_uma", "cm-1", "cm-2", audit=True)
async def chaos_mesh(stage: BlindStage) -> None:
    """Restart an instance through the cloud, as a person ordered."""
    bloom = await the_job(stage.api, "bloom", 2, nodes=("cm-1", "cm-2"))
    group, user = "chaos-mesh.org", "system:serviceaccount:chaos-mesh:"
    user += "chaos-controller-manager"
    chaos = await custom(
        stage, group, "v1alpha1", "AWSChaos", "before", namespace="chaos-mesh"
    )
    async with (
        stage.recording(),
        writer(stage, "kubectl-create", "uma", agent="kubectl/v1.36.0") as she,
        writer(stage, "chaos-controller-manager", user) as acting,
    ):
        stage.did("order", "uma creates an AWSChaos")
        spec = {
            "action": "ec2-restart",
            "awsRegion": "eu-central-1",
            "ec2Instance": "i-0c2cm2",
        }
        path = f"/apis/{group}/v1alpha1/namespaces/chaos-mesh/awschaoss"
        await she.create(
            path,
            {
                "apiVersion": f"{group}/v1alpha1",
                "kind": "AWSChaos",
                "metadata": {"name": "restart-one"},
                "spec": spec,
            },
        )
        reference = {
            "apiVersion": chaos["apiVersion"],
            "kind": "AWSChaos",
            "namespace": "chaos-mesh",
            "name": "restart-one",
            "uid": "0b61a4f2-1c5e-4d0e-9a35-2f4c9f3f7d11",
        }
        await acting.event(
            reference,
            "Applied",
            'Successfully apply chaos for {"awsRegion":"eu-central-1",'
            '"ec2Instance":"i-0c2cm2"}',
            component="records",
        )
        await stage.pause(1)
        await power_cycle(stage, "cm-2")
        old = bloom.on("cm-2")
        await wait_running(stage, "train", f"{JOB}=bloom", 2, without=old)
        await stage.pause(4)


@story("d05_calico_restarts_then_crash", "ca-1", "ca-2")
async def calico(stage: BlindStage) -> None:
    """Let calico-node restart on two nodes; later one dies."""
    await the_job(stage.api, "vit", 2, nodes=("ca-1", "ca-2"))
    user = "system:serviceaccount:calico-system:calico-node"
    kind = "NetworkUnavailable"
    async with stage.recording(), writer(stage, "calico-node", user) as acting:
        for node in ("ca-1", "ca-2"):
            stage.did(f"calico {node}", f"calico-node of {node} restarts")
            await acting.condition(
                node,
                kind,
                "True",
                "CalicoIsDown",
                "Calico is shutting down on this node",
            )
            await stage.pause(4)
            await acting.condition(
                node,
                kind,
                "False",
                "CalicoIsUp",
                "Calico is running on this node",
            )
            await stage.pause(2)
        await stage.pause(25)
        await die_and_boot(stage, "ca-2")
        await wait_running(stage, "train", f"{JOB}=vit", 2)
        await stage.pause(3)


@story("d06_eks_rolling_update_by_tara", "ek-1", "ek-2", audit=True)
async def eks_rolling_update(stage: BlindStage) -> None:
    """Cordon, drain, terminate and delete, as the person who runs it."""
    await the_job(stage.api, "stays", 1, gpus=4, nodes=("ek-1",))
    await the_deployment(
        stage.api, "search", 1, gpus=4, nodes=("ek-1", "ek-2"), prefer="ek-2"
    )
    agent = "OpenAPI-Generator/31.0.0/python"
    drain = ("drain", "ek-2", "--ignore-daemonsets")
    async with (
        stage.recording(),
        writer(stage, "OpenAPI-Generator", "tara", agent=agent) as acting,
    ):
        stage.did("cordon", "tara's tool cordons ek-2")
        await acting.mark("ek-2", unschedulable=True)
        await stage.pause(2)
        await kubectl_as(stage, "tara", *drain)
        await stage.pause(3)
        await stage.crash("ek-2", label="off")
        await stage.pause(4)
        stage.did("removed", "tara's tool deletes the Node ek-2")
        await acting.delete("/api/v1/nodes/ek-2")
        await wait_running(stage, "serve", "app=search", 1)
        await stage.pause(6)


@story("d07_scaled_to_zero_then_crash", "sz-1", "sz-2", audit=True)
async def scaled(stage: BlindStage) -> None:
    """Scale a Deployment to zero; then its machine dies."""
    await the_deployment(stage.api, "legacy", 1, gpus=4, nodes=("sz-2",))
    await the_job(stage.api, "tts", 1, gpus=4, nodes=("sz-2",))
    scale = ("scale", "deployment/legacy", "-n", "serve", "--replicas=0")
    async with stage.recording():
        stage.did("scale", "yuri scales serve/legacy to zero")
        await kubectl_as(stage, "yuri", *scale)
        await wait_running(stage, "serve", "app=legacy", 0)
        await stage.pause(8)
        await die_and_boot(stage, "sz-2")
        await wait_running(stage, "train", f"{JOB}=tts", 1)
        await stage.pause(3)


@story("d08_kubespray_upgrade", "ks-1", "ks-2", audit=True)
async def kubespray(stage: BlindStage) -> None:
    """Drain a node, restart its kubelet, uncordon it."""
    await the_deployment(
        stage.api, "vote", 1, gpus=4, nodes=("ks-1", "ks-2"), prefer="ks-2"
    )
    admin = "kubernetes-admin"
    drain = ("drain", "ks-2", "--force", "--ignore-daemonsets",
             "--grace-period", "300", "--timeout", "360s",
             "--delete-emptydir-data")  # fmt: skip
    async with stage.recording():
        stage.did("cordon", "Ansible cordons ks-2")
        await kubectl_as(stage, admin, "cordon", "ks-2")
        await stage.pause(2)
        await kubectl_as(stage, admin, *drain)
        await stage.pause(4)
        stage.did("down", "Ansible restarts the kubelet of ks-2")
        await stage.machine("ks-2").kubelet.kill()
        await stage.pause(3)
        await stage.machine("ks-2").restart_kubelet()
        stage.did("up", "the kubelet of ks-2 runs")
        await stage.ready("ks-2")
        await stage.pause(3)
        stage.did("uncordon", "Ansible uncordons ks-2")
        await kubectl_as(stage, admin, "uncordon", "ks-2")
        await wait_running(stage, "serve", "app=vote", 1)
        await stage.pause(4)


@story("d09_drain_beside_a_crash", "db-1", "db-2", "db-3", audit=True)
async def drain_beside_crash(stage: BlindStage) -> None:
    """Drain and cycle one node while another dies by itself."""
    nodes = ("db-1", "db-3")
    await the_deployment(
        stage.api, "chat2", 1, gpus=4, nodes=nodes, prefer="db-1"
    )
    await the_job(stage.api, "alone", 1, nodes=("db-2",))
    async with stage.recording():
        stage.did("drain", "zoe drains db-1")
        await kubectl_as(stage, "zoe", "drain", "db-1", "--ignore-daemonsets")
        await stage.pause(2)
        await stage.crash("db-2")
        await stage.pause(1)
        await power_cycle(stage, "db-1")
        await stage.is_unknown("db-2")
        stage.did("uncordon", "zoe uncordons db-1")
        await kubectl_as(stage, "zoe", "uncordon", "db-1")
        await stage.pause(6)
        await stage.boot("db-2", label="boot2")
        await stage.ready("db-2")
        await wait_running(stage, "train", f"{JOB}=alone", 1)
        await stage.pause(3)
